import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Records of uploads that processes share` {
    private let sample: SampleApplication
    private var store: MessagingStore { sample.store }

    init() async throws { sample = try await SampleApplication() }

    private static func row(
        _ name: String, version: Int64 = 1, owner: String = "o", isOpen: Bool = true,
        claimed: Int64 = 10, dueAt: Int64 = 100
    ) -> UploadRow {
        UploadRow(
            name: name, version: version, holder: [1], content: "c-\(name)", application: "a",
            owner: owner, isOpen: isOpen, claimed: claimed, dueAt: dueAt, record: [9, 8, 7])
    }

    @Test func `are found by their name and by their content (resumable uploads 1.2)`() async throws
    {
        let row = Self.row("n")
        #expect(try await store.keepUpload(row, mostOpen: 1, mostClaimed: nil) == .kept)
        #expect(try await store.upload("n") == row)
        #expect(try await store.upload(ofContent: "c-n") == row)
        #expect(try await store.upload("c-n") == nil)
        #expect(try await store.upload(ofContent: "n") == nil)
    }

    @Test func `are replaced by one of two who saw the same version (10.5)`() async throws {
        _ = try await store.keepUpload(Self.row("n"), mostOpen: 1, mostClaimed: nil)
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask { [store] in
                    try await store.replaceUpload(
                        Self.row("n", version: 2, dueAt: Int64(number)), version: 1)
                }
            }
            return try await group.reduce(into: 0) { count, isTaken in count += isTaken ? 1 : 0 }
        }
        #expect(taken == 1)
        #expect(try await store.upload("n")?.version == 2)
        try await store.forgetUpload("n", version: 1)
        #expect(try await store.upload("n") != nil)
        try await store.forgetUpload("n", version: 2)
        #expect(try await store.upload("n") == nil)
        #expect(try await !store.replaceUpload(Self.row("n", version: 3), version: 2))
    }

    private static func written(
        _ version: Int64, by holder: UInt8 = 1, isWritten: Bool = true
    ) -> UploadRow {
        UploadRow(
            name: "n", version: version, holder: [holder], content: "c", application: "a",
            owner: "o", isOpen: true, claimed: 10, dueAt: 100, record: [9], isWritten: isWritten)
    }

    @Test func `keep what another process asks until it is answered (ruling 33)`() async throws {
        _ = try await store.keepUpload(Self.row("n"), mostOpen: 1, mostClaimed: nil)
        // Nothing is asked of a process that receives nothing.
        #expect(try await !store.askUploadWriter("n", holder: [1], request: 1))
        #expect(try await store.replaceUpload(Self.written(2), version: 1))
        #expect(try await !store.askUploadWriter("n", holder: [2], request: 1))
        #expect(try await store.askUploadWriter("n", holder: [1], request: 2))
        #expect(try await store.askUploadWriter("n", holder: [1], request: 1))
        // A commit that began before is no answer, and to stop includes to commit.
        #expect(try await store.replaceUpload(Self.written(3), version: 2))
        #expect(try await store.upload("n")?.wanted == 2)
        try await store.answerUploadRequest("n", holder: [2], isWritten: false)
        #expect(try await store.upload("n")?.wanted == 2)
        try await store.answerUploadRequest("n", holder: [1], isWritten: true)
        var row = try await store.upload("n")
        #expect(row?.wanted == 0 && row?.isWritten == true && row?.version == 3)
        // The last replacement of a body, and that of another process, end the question.
        _ = try await store.askUploadWriter("n", holder: [1], request: 2)
        #expect(try await store.replaceUpload(Self.written(4, isWritten: false), version: 3))
        row = try await store.upload("n")
        #expect(row?.wanted == 0 && row?.isWritten == false)
        #expect(try await store.replaceUpload(Self.written(5), version: 4))
        _ = try await store.askUploadWriter("n", holder: [1], request: 1)
        #expect(try await store.replaceUpload(Self.written(6, by: 2), version: 5))
        #expect(try await store.upload("n")?.wanted == 0)
        try await store.answerUploadRequest("n", holder: [2], isWritten: false)
        #expect(try await store.upload("n")?.isWritten == false)
    }

    @Test func `are counted when one is added, by any process (11.9)`() async throws {
        let entries = try await withThrowingTaskGroup(of: UploadEntry.self) { group in
            for number in 0..<20 {
                group.addTask { [store] in
                    try await store.keepUpload(
                        Self.row("n\(number)"), mostOpen: 5, mostClaimed: nil)
                }
            }
            return try await group.reduce(into: []) { all, entry in all.append(entry) }
        }
        #expect(entries.filter { $0 == .kept }.count == 5)
        #expect(entries.filter { $0 == .tooMany }.count == 15)
        // Ended uploads and those of other owners do not count.
        let other = Self.row("other", owner: "p", claimed: 0)
        #expect(try await store.keepUpload(other, mostOpen: 1, mostClaimed: 50) == .kept)
        #expect(try await store.bytesClaimed(byUploadsOf: "a") == 50)
        let more = Self.row("more", owner: "q", claimed: 1)
        #expect(try await store.keepUpload(more, mostOpen: 1, mostClaimed: 50) == .tooLarge)
        #expect(try await store.keepUpload(more, mostOpen: 1, mostClaimed: 51) == .kept)
        #expect(try await store.bytesClaimed(byUploadsOf: "b") == 0)
    }

    @Test func `are named when they are due, those longest due first (11.8)`() async throws {
        for (name, moment) in [("b", 20), ("a", 10), ("c", 30)] as [(String, Int64)] {
            _ = try await store.keepUpload(
                Self.row(name, dueAt: moment), mostOpen: 9, mostClaimed: nil)
        }
        #expect(try await store.dueUploads(at: 20, limit: 9) == ["a", "b"])
        #expect(try await store.dueUploads(at: 99, limit: 2) == ["a", "b"])
        #expect(try await store.dueUploads(at: 9, limit: 9) == [])
    }
}

@Suite struct `A secret that processes share` {
    private let sample: SampleApplication
    private var store: MessagingStore { sample.store }

    init() async throws { sample = try await SampleApplication() }

    @Test func `is the one that was kept first`() async throws {
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

    @Test func `is replaced by what is made of it, and not made of nothing`() async throws {
        #expect(try await store.replaceSecret("s") { $0 + [1] } == nil)
        _ = try await store.secret("s") { [7] }
        #expect(try await store.replaceSecret("s") { $0 + [1] } == [7, 1])
        #expect(try await store.secret("s") { [9] } == [7, 1])
    }
}
