import HTTPClient
import TestSupport
import Testing

@testable import ObjectStore

private let mebibyte = 1 << 20

@Suite(.enabled(if: ObjectServer.isThere)) struct `A multipart upload` {
    @Test func `makes one object of its parts (§10.2, §10.3)`() async throws {
        let place = try Workplace()
        let key = try #require(ObjectKey("of parts/ü"))
        let content = octets(10 * mebibyte + 3)
        let upload = try await place.store.createMultipart(key, type: "a/b", metadata: ["x": "y"])
        #expect(try await place.store.parts(key, upload: upload).isEmpty)
        #expect(try await place.store.multiparts().all().map(\.key) == [key])
        #expect(try await place.store.multiparts().all().map(\.upload) == [upload])

        var parts: [ObjectPart] = []
        for number in [2, 1, 3] {
            let range = (number - 1) * 5 * mebibyte..<min(number * 5 * mebibyte, content.count)
            let part = try await place.store.putPart(
                key, upload: upload, number: number,
                .stored(Int64(range.count)) { count, position in
                    Array(content[range].dropFirst(Int(position)).prefix(count))
                })
            parts.append(part)
        }
        parts.sort { $0.number < $1.number }
        #expect(try await place.store.parts(key, upload: upload) == parts)
        let page = try await place.store.page(key, upload, after: 0, atMost: 2)
        #expect(page.parts == Array(parts[..<2]))
        #expect(page.next == 2)
        #expect(try await place.store.page(key, upload, after: 2, atMost: 2).parts == [parts[2]])

        #expect(try await place.store.head(key) == nil)
        try await place.store.complete(key, upload: upload, parts)
        let summary = try #require(try await place.store.head(key))
        #expect(summary.size == Int64(content.count))
        #expect(summary.type == "a/b")
        #expect(summary.metadata == ["x": "y"])
        #expect(try await place.store.read(key) == content)
        #expect(try await place.store.multiparts().all().isEmpty)
        try await place.store.delete(key)
    }

    @Test func `takes parts out of other objects`() async throws {
        let place = try Workplace()
        let source = try #require(ObjectKey("source ü+1"))
        let key = try Workplace.key()
        let content = octets(6 * mebibyte)
        _ = try await place.store.put(source, .octets(content), type: "a/b")
        let upload = try await place.store.createMultipart(key, type: "a/b")
        let first = try await place.store.copyPart(
            key, upload: upload, number: 1, from: source, range: 7..<Int64(5 * mebibyte + 7))
        #expect(first.size == Int64(5 * mebibyte))
        let last = try await place.store.putPart(key, upload: upload, number: 2, .octets([1, 2]))
        try await place.store.complete(key, upload: upload, [first, last])
        let whole = try await place.store.read(key)
        #expect(whole[...] == content[7..<(5 * mebibyte + 7)] + [1, 2])
    }

    @Test func `is aborted until nothing is left, and then is none (§10.3)`() async throws {
        let place = try Workplace()
        let key = try Workplace.key("kept.2.DELETE")
        let upload = try await place.store.createMultipart(key, type: "a/b")
        let part = try await place.store.putPart(key, upload: upload, number: 1, .octets([1]))
        try await place.store.abort(key, upload: upload)
        #expect(place.waits.count == 2)
        #expect(try await place.store.multiparts().all().isEmpty)
        try await place.store.abort(key, upload: upload)

        for operation in [
            { _ = try await place.store.parts(key, upload: upload) },
            { _ = try await place.store.putPart(key, upload: upload, number: 2, .octets([1])) },
            { try await place.store.complete(key, upload: upload, [part]) },
        ] as [() async throws -> Void] {
            #expect(try await fault(operation).kind == .missingUpload)
        }
    }

    @Test func `that keeps its parts is said to be busy`() async throws {
        let place = try Workplace { $0.attempts = 3 }
        let key = try Workplace.key("kept.9.DELETE")
        let upload = try await place.store.createMultipart(key, type: "a/b")
        _ = try await place.store.putPart(key, upload: upload, number: 1, .octets([1]))
        let left = try await fault { try await place.store.abort(key, upload: upload) }
        #expect(left.kind == .busy)
        #expect(place.waits.count == 2)
    }

    @Test func `takes no part but the last under 5 MiB, and none it does not hold (§10.2)`()
        async throws
    {
        let place = try Workplace()
        let key = try Workplace.key()
        let upload = try await place.store.createMultipart(key, type: "a/b")
        var parts: [ObjectPart] = []
        for number in 1...2 {
            parts.append(
                try await place.store.putPart(key, upload: upload, number: number, .octets([1])))
        }
        let small = try await fault { try await place.store.complete(key, upload: upload, parts) }
        #expect(small.kind == .partTooSmall)
        let wrong = try await fault {
            try await place.store.complete(
                key, upload: upload, [ObjectPart(number: 1, size: 1, tag: "\"0123\"")])
        }
        #expect(wrong.kind == .wrongParts)
        try await place.store.abort(key, upload: upload)
    }

    @Test func `is asked for nothing that cannot be`() async throws {
        let place = try Workplace()
        let key = try Workplace.key()
        let part = ObjectPart(number: 1, size: 1, tag: "t")
        for operation in [
            { _ = try await place.store.putPart(key, upload: "u", number: 0, .octets([1])) },
            { _ = try await place.store.putPart(key, upload: "u", number: 10_001, .octets([1])) },
            {
                _ = try await place.store.copyPart(
                    key, upload: "u", number: 1, from: key, range: 1..<1)
            },
            { try await place.store.complete(key, upload: "u", []) },
            { try await place.store.complete(key, upload: "u", [part, part]) },
        ] as [() async throws -> Void] {
            #expect(try await fault(operation).kind == .invalid)
        }
    }

    @Test func `is listed below its prefix`() async throws {
        let place = try Workplace()
        let other = try Workplace { $0.prefix = place.store.settings.prefix + "a" }
        let (mine, theirs) = (try #require(ObjectKey("b")), try #require(ObjectKey("c")))
        let first = try await place.store.createMultipart(mine, type: "a/b")
        let second = try await other.store.createMultipart(theirs, type: "a/b")
        #expect(Set(try await place.store.multiparts().all().map(\.key.text)) == ["b", "ac"])
        #expect(try await other.store.multiparts().all().map(\.key) == [theirs])
        try await place.store.abort(mine, upload: first)
        try await other.store.abort(theirs, upload: second)
    }
}
