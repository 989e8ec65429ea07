import Messaging
import SQL
import Testing
import Uploads

@testable import MessagingStore

@Suite struct `Shared upload records` {
    private let sample: SampleApplication
    private let registry: DatabaseUploadRegistry

    init() async throws {
        sample = try await SampleApplication()
        registry = DatabaseUploadRegistry(store: sample.store)
    }

    private static func row(
        _ name: String, version: Int64 = 1, owner: String = "o", isOpen: Bool = true,
        claimed: Int64 = 10, dueAt: Int64 = 100
    ) -> RegisteredUpload {
        RegisteredUpload(
            name: name, version: version, holder: [1], content: "c-\(name)", application: "a",
            owner: owner, isOpen: isOpen, claimed: claimed, dueAt: dueAt, record: [9, 8, 7])
    }

    @Test func `are found by name and by content (resumable uploads 1.2)`() async throws {
        let row = Self.row("n")
        #expect(try await registry.create(row, mostOpen: 1, mostClaimed: nil) == .created)
        #expect(try await registry.find("n") == row)
        #expect(try await registry.find(content: "c-n") == row)
        #expect(try await registry.find("c-n") == nil)
        #expect(try await registry.find(content: "n") == nil)
    }

    @Test func `are replaced by one of two processes that read the same version (10.5)`()
        async throws
    {
        _ = try await registry.create(Self.row("n"), mostOpen: 1, mostClaimed: nil)
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask { [registry] in
                    try await registry.replace(
                        Self.row("n", version: 2, dueAt: Int64(number)), version: 1)
                }
            }
            return try await group.reduce(into: 0) { count, isTaken in count += isTaken ? 1 : 0 }
        }
        #expect(taken == 1)
        #expect(try await registry.find("n")?.version == 2)
        try await registry.forget("n", version: 1)
        #expect(try await registry.find("n") != nil)
        try await registry.forget("n", version: 2)
        #expect(try await registry.find("n") == nil)
        #expect(try await !registry.replace(Self.row("n", version: 3), version: 2))
    }

    @Test func `are listed by descending content, those that accept bytes apart`() async throws {
        for (name, isOpen) in [("1", true), ("2", false), ("3", true), ("4", true)] {
            _ = try await registry.create(
                Self.row(name, isOpen: isOpen), mostOpen: 9, mostClaimed: nil)
        }
        func names(
            _ application: String?, isOpen: Bool = true, after content: String? = nil,
            limit: Int = 9
        ) async throws -> [String] {
            try await registry.list(application, isOpen: isOpen, after: content, limit: limit)
                .map(\.name)
        }
        #expect(try await names(nil) == ["4", "3", "1"])
        #expect(try await names("a", limit: 2) == ["4", "3"])
        #expect(try await names("a", after: "c-4", limit: 1) == ["3"])
        #expect(try await names(nil, after: "c-3") == ["1"])
        #expect(try await names("a", isOpen: false) == ["2"])
        #expect(try await names("b").isEmpty)
    }

    private static func written(
        _ version: Int64, by holder: UInt8 = 1, isWritten: Bool = true
    ) -> RegisteredUpload {
        RegisteredUpload(
            name: "n", version: version, holder: [holder], content: "c", application: "a",
            owner: "o", isOpen: true, claimed: 10, dueAt: 100, record: [9], isWritten: isWritten)
    }

    @Test func `store a request of another process until it is answered (ruling 33)`() async throws
    {
        _ = try await registry.create(Self.row("n"), mostOpen: 1, mostClaimed: nil)
        // A process that receives no bytes gets no request.
        #expect(try await !registry.send(.commit, to: [1], of: "n"))
        #expect(try await registry.replace(Self.written(2), version: 1))
        #expect(try await !registry.send(.commit, to: [2], of: "n"))
        #expect(try await registry.send(.stop, to: [1], of: "n"))
        #expect(try await registry.send(.commit, to: [1], of: "n"))
        // A commit that began earlier is no answer, and a stop includes a commit.
        #expect(try await registry.replace(Self.written(3), version: 2))
        #expect(try await registry.find("n")?.request == .stop)
        try await registry.answer("n", at: [2], isWritten: false)
        #expect(try await registry.find("n")?.request == .stop)
        try await registry.answer("n", at: [1], isWritten: true)
        var row = try await registry.find("n")
        #expect(row?.request == nil && row?.isWritten == true && row?.version == 3)
        // The last replacement for a body, or one by another process, ends the request.
        _ = try await registry.send(.stop, to: [1], of: "n")
        #expect(try await registry.replace(Self.written(4, isWritten: false), version: 3))
        row = try await registry.find("n")
        #expect(row?.request == nil && row?.isWritten == false)
        #expect(try await registry.replace(Self.written(5), version: 4))
        _ = try await registry.send(.commit, to: [1], of: "n")
        #expect(try await registry.replace(Self.written(6, by: 2), version: 5))
        #expect(try await registry.find("n").map(\.request) == .some(nil))
        try await registry.answer("n", at: [2], isWritten: false)
        #expect(try await registry.find("n")?.isWritten == false)
    }

    @Test func `are counted when one is added by any process (11.9)`() async throws {
        let entries = try await withThrowingTaskGroup(of: UploadCreationResult.self) { group in
            for number in 0..<20 {
                group.addTask { [registry] in
                    try await registry.create(
                        Self.row("n\(number)"), mostOpen: 5, mostClaimed: nil)
                }
            }
            return try await group.reduce(into: []) { all, entry in all.append(entry) }
        }
        #expect(entries.filter { $0 == .created }.count == 5)
        #expect(entries.filter { $0 == .tooMany }.count == 15)
        // Ended uploads and those of other owners do not count.
        let other = Self.row("other", owner: "p", claimed: 0)
        #expect(try await registry.create(other, mostOpen: 1, mostClaimed: 50) == .created)
        #expect(try await registry.claimed(by: "a") == 50)
        let more = Self.row("more", owner: "q", claimed: 1)
        #expect(try await registry.create(more, mostOpen: 1, mostClaimed: 50) == .tooLarge)
        #expect(try await registry.create(more, mostOpen: 1, mostClaimed: 51) == .created)
        #expect(try await registry.claimed(by: "b") == 0)
    }

    @Test func `are listed when they are due, oldest first (11.8)`() async throws {
        for (name, moment) in [("b", 20), ("a", 10), ("c", 30)] as [(String, Int64)] {
            _ = try await registry.create(
                Self.row(name, dueAt: moment), mostOpen: 9, mostClaimed: nil)
        }
        #expect(try await registry.due(at: 20, limit: 9) == ["a", "b"])
        #expect(try await registry.due(at: 99, limit: 2) == ["a", "b"])
        #expect(try await registry.due(at: 9, limit: 9) == [])
    }
}

@Suite struct `A shared secret` {
    private let sample: SampleApplication
    private var store: MessagingStore { sample.store }

    init() async throws { sample = try await SampleApplication() }

    @Test func `is the first one that was stored`() async throws {
        #expect(try await store.secret("s") == nil)
        let secrets = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<20 {
                group.addTask { [store] in try await store.secret("s") { [UInt8(number)] } }
            }
            return try await group.reduce(into: Set()) { all, secret in all.insert(secret) }
        }
        #expect(secrets.count == 1)
        #expect(try await store.secret("s").map { [$0] } == Array(secrets))
    }

    @Test func `is replaced by a value computed from it, if it exists`() async throws {
        #expect(try await store.replaceSecret("s") { $0 + [1] } == nil)
        _ = try await store.secret("s") { [7] }
        #expect(try await store.replaceSecret("s") { $0 + [1] } == [7, 1])
        #expect(try await store.secret("s") { [9] } == [7, 1])
    }
}
