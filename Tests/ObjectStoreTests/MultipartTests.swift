import HTTPClient
import SystemSupport
import TestSupport
import Testing

@testable import ObjectStore

private let mebibyte = 1 << 20

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `A multipart upload` {
    @Test func `makes one object of its parts (§10.2, §10.3)`() async throws {
        let bucket = try TestBucket()
        let key = try #require(ObjectKey("of parts/ü"))
        let content = patternBytes(10 * mebibyte + 3)
        let upload = try await bucket.store.createMultipartUpload(
            key, type: "a/b", metadata: ["x": "y"])
        #expect(try await bucket.store.parts(key, upload: upload).isEmpty)
        #expect(try await bucket.store.openMultipartUploads().all().map(\.key) == [key])
        #expect(try await bucket.store.openMultipartUploads().all().map(\.upload) == [upload])

        var parts: [ObjectPart] = []
        for number in [2, 1, 3] {
            let range = (number - 1) * 5 * mebibyte..<min(number * 5 * mebibyte, content.count)
            let part = try await bucket.store.putPart(
                key, upload: upload, number: number,
                .stored(Int64(range.count)) { count, position in
                    Array(content[range].dropFirst(Int(position)).prefix(count))
                })
            parts.append(part)
        }
        parts.sort { $0.number < $1.number }
        #expect(try await bucket.store.parts(key, upload: upload) == parts)
        let page = try await bucket.store.page(key, upload, after: 0, atMost: 2)
        #expect(page.parts == Array(parts[..<2]))
        #expect(page.next == 2)
        #expect(try await bucket.store.page(key, upload, after: 2, atMost: 2).parts == [parts[2]])

        #expect(try await bucket.store.head(key) == nil)
        try await bucket.store.complete(key, upload: upload, parts)
        let summary = try #require(try await bucket.store.head(key))
        #expect(summary.size == Int64(content.count))
        #expect(summary.type == "a/b")
        #expect(summary.metadata == ["x": "y"])
        #expect(try await bucket.store.read(key) == content)
        #expect(try await bucket.store.openMultipartUploads().all().isEmpty)
        try await bucket.store.delete(key)
    }

    @Test func `copies parts of other objects`() async throws {
        let bucket = try TestBucket()
        let source = try #require(ObjectKey("source ü+1"))
        let key = try TestBucket.key()
        let content = patternBytes(6 * mebibyte)
        _ = try await bucket.store.put(source, .bytes(content), type: "a/b")
        let upload = try await bucket.store.createMultipartUpload(key, type: "a/b")
        let first = try await bucket.store.copyPart(
            key, upload: upload, number: 1, from: source, range: 7..<Int64(5 * mebibyte + 7))
        #expect(first.size == Int64(5 * mebibyte))
        let last = try await bucket.store.putPart(key, upload: upload, number: 2, .bytes([1, 2]))
        try await bucket.store.complete(key, upload: upload, [first, last])
        let whole = try await bucket.store.read(key)
        #expect(whole[...] == content[7..<(5 * mebibyte + 7)] + [1, 2])
    }

    @Test func `is aborted until no parts are left, and then is missing (§10.3)`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("kept.2.DELETE")
        let upload = try await bucket.store.createMultipartUpload(key, type: "a/b")
        let part = try await bucket.store.putPart(key, upload: upload, number: 1, .bytes([1]))
        try await bucket.store.abort(key, upload: upload)
        #expect(bucket.waits.count == 2)
        #expect(try await bucket.store.openMultipartUploads().all().isEmpty)
        try await bucket.store.abort(key, upload: upload)

        for operation in [
            { _ = try await bucket.store.parts(key, upload: upload) },
            { _ = try await bucket.store.putPart(key, upload: upload, number: 2, .bytes([1])) },
            { try await bucket.store.complete(key, upload: upload, [part]) },
        ] as [() async throws -> Void] {
            #expect(try await fault(operation).kind == .missingUpload)
        }
    }

    @Test func `that keeps its parts is reported as busy`() async throws {
        let bucket = try TestBucket { $0.attempts = 3 }
        let key = try TestBucket.key("kept.9.DELETE")
        let upload = try await bucket.store.createMultipartUpload(key, type: "a/b")
        _ = try await bucket.store.putPart(key, upload: upload, number: 1, .bytes([1]))
        let left = try await fault { try await bucket.store.abort(key, upload: upload) }
        #expect(left.kind == .busy)
        #expect(bucket.waits.count == 2)
    }

    @Test func `accepts only the last part below 5 MiB, and no unknown part (§10.2)`()
        async throws
    {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        let upload = try await bucket.store.createMultipartUpload(key, type: "a/b")
        var parts: [ObjectPart] = []
        for number in 1...2 {
            parts.append(
                try await bucket.store.putPart(key, upload: upload, number: number, .bytes([1])))
        }
        let small = try await fault { try await bucket.store.complete(key, upload: upload, parts) }
        #expect(small.kind == .partTooSmall)
        let wrong = try await fault {
            try await bucket.store.complete(
                key, upload: upload, [ObjectPart(number: 1, size: 1, tag: "\"0123\"")])
        }
        #expect(wrong.kind == .invalidParts)
        try await bucket.store.abort(key, upload: upload)
    }

    @Test func `rejects impossible arguments without a request`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        let part = ObjectPart(number: 1, size: 1, tag: "t")
        for operation in [
            { _ = try await bucket.store.putPart(key, upload: "u", number: 0, .bytes([1])) },
            { _ = try await bucket.store.putPart(key, upload: "u", number: 10_001, .bytes([1])) },
            {
                _ = try await bucket.store.copyPart(
                    key, upload: "u", number: 1, from: key, range: 1..<1)
            },
            { try await bucket.store.complete(key, upload: "u", []) },
            { try await bucket.store.complete(key, upload: "u", [part, part]) },
        ] as [() async throws -> Void] {
            #expect(try await fault(operation).kind == .invalid)
        }
    }

    @Test func `is listed below its prefix`() async throws {
        let bucket = try TestBucket()
        let other = try TestBucket { $0.prefix = bucket.store.settings.prefix + "a" }
        let (mine, theirs) = (try #require(ObjectKey("b")), try #require(ObjectKey("c")))
        let first = try await bucket.store.createMultipartUpload(mine, type: "a/b")
        let second = try await other.store.createMultipartUpload(theirs, type: "a/b")
        #expect(
            Set(try await bucket.store.openMultipartUploads().all().map(\.key.text)) == ["b", "ac"])
        #expect(try await other.store.openMultipartUploads().all().map(\.key) == [theirs])
        try await bucket.store.abort(mine, upload: first)
        try await other.store.abort(theirs, upload: second)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A part with its CRC-32C` {
    private let requests = Locked<[(head: String, body: String)]>([])

    @Test func `has it declared at the start, sent with each part and listed at the end (§10.4)`()
        async throws
    {
        let server = try server(of: "<ChecksumAlgorithm>CRC32C</ChecksumAlgorithm>")
        let key = try TestBucket.key()
        let store = try store(at: server)
        let upload = try await store.createMultipartUpload(key, type: "a/b")
        // Of "123456789" it is E3069283 (RFC 3720, B.4).
        let part = try await store.putPart(
            key, upload: upload, number: 1, .bytes(Array("123456789".utf8)))
        try await store.complete(key, upload: upload, [part])
        let received = requests.withLock { $0 }
        #expect(received.map { $0.head.prefix { $0 != " " } } == ["POST", "PUT", "GET", "POST"])
        #expect(received[0].head.contains("\r\nx-amz-checksum-algorithm: CRC32C\r\n"))
        #expect(received[1].head.contains("\r\nx-amz-checksum-crc32c: 4waSgw==\r\n"))
        #expect(received[1].head.contains("SignedHeaders=host;x-amz-checksum-crc32c;"))
        #expect(
            received[3].body.contains(
                "<ETag>\"t\"</ETag><ChecksumCRC32C>4waSgw==</ChecksumCRC32C></Part>"))
    }

    @Test(arguments: [
        ("<ChecksumAlgorithm>CRC32C</ChecksumAlgorithm>", true),
        ("<ChecksumAlgorithm>SHA256</ChecksumAlgorithm>", false), ("", false),
    ])
    func `is sent if another process declared it, as the store reports (§10.4)`(
        algorithm: String, hasChecksums: Bool
    ) async throws {
        let server = try server(of: algorithm)
        let store = try store(at: server)
        let key = try TestBucket.key()
        for number in 1...2 {
            _ = try await store.putPart(key, upload: "u", number: number, .bytes([1]))
        }
        let received = requests.withLock { $0 }
        // Requested once.
        #expect(received.map { $0.head.prefix { $0 != " " } } == ["GET", "PUT", "PUT"])
        #expect(received[2].head.contains("x-amz-checksum-crc32c") == hasChecksums)
    }

    @Test func `has no CRC-32C unless the setting asks for it`() async throws {
        let server = try server(of: "")
        let key = try TestBucket.key()
        let store = try store(at: server) { $0.sendsPartChecksums = false }
        let upload = try await store.createMultipartUpload(key, type: "a/b")
        let part = try await store.putPart(key, upload: upload, number: 1, .bytes([1]))
        try await store.complete(key, upload: upload, [part])
        #expect(requests.withLock { $0.count } == 3)
        #expect(requests.withLock { $0.allSatisfy { !$0.head.contains("checksum") } })
    }

    @Test func `is remembered for a limited number of uploads`() throws {
        let store = try store(at: try server(of: ""))
        for number in 0..<3 * ObjectStore.checksumCacheLimit {
            store.note("u\(number)", hasChecksums: true)
            #expect(store.checksummedUploads.withLock { $0["u\(number)"] } == true)
        }
        #expect(store.checksummedUploads.withLock { $0.count } <= ObjectStore.checksumCacheLimit)
    }

    /// A store that accepts everything and reports the given algorithm for uploads.
    private func server(of algorithm: String) throws -> ScriptedServer {
        let requests = requests
        return try ScriptedServer { connection in
            while let head = connection.readHead() {
                let length =
                    head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                    .flatMap { Int($0.dropFirst(16)) } ?? 0
                let body = length > 0 ? connection.read(length) ?? [] : []
                requests.withLock { $0.append((head, String(decoding: body, as: UTF8.self))) }
                let answer =
                    if head.hasPrefix("GET") {
                        "<ListPartsResult>\(algorithm)<IsTruncated>false</IsTruncated>"
                            + "<Part><PartNumber>1</PartNumber><Size>9</Size><ETag>\"t\"</ETag>"
                            + "<ChecksumCRC32C>4waSgw==</ChecksumCRC32C></Part></ListPartsResult>"
                    } else if head.contains("uploads=") {
                        "<InitiateMultipartUploadResult><UploadId>u</UploadId>"
                            + "</InitiateMultipartUploadResult>"
                    } else {
                        "<CompleteMultipartUploadResult><ETag>\"t\"</ETag>"
                            + "</CompleteMultipartUploadResult>"
                    }
                connection.write(
                    "HTTP/1.1 200 OK\r\nETag: \"t\"\r\nContent-Length: \(answer.utf8.count)\r\n\r\n"
                        + answer)
            }
        }
    }

    private func store(
        at server: ScriptedServer, _ change: (inout ObjectStoreSettings) -> Void = { _ in }
    ) throws -> ObjectStore {
        var settings = ObjectStoreSettings(
            endpoint: "http://127.0.0.1:\(server.port)", bucket: "parley",
            credentials: Credentials(accessKey: "a", secretKey: "b"), sendsPartChecksums: true)
        change(&settings)
        return try ObjectStore(settings, clock: ObjectStoreClock(now: { 0 }, sleep: { _ in }))
    }
}
