import HTTP
import HTTPClient
import SystemSupport
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `An object` {
    @Test(arguments: [0, 1, 16_385, 300_000])
    func `is read as it was stored, from memory and from a file (§10.3)`(size: Int) async throws {
        let bucket = try TestBucket()
        let (content, key) = (patternBytes(size), try TestBucket.key())
        let stored = ClientBody.stored(Int64(size)) { count, position in
            Array(content[Int(position)..<min(Int(position) + count, size)])
        }
        for body in [ClientBody.bytes(content), stored] {
            let tag = try await bucket.store.put(
                key, body, type: "text/x-odd; a=b", metadata: ["sha-256": "A  b"])
            let summary = try #require(try await bucket.store.head(key))
            #expect(summary.size == Int64(size))
            #expect(summary.tag == tag)
            #expect(summary.type == "text/x-odd; a=b")
            #expect(summary.metadata["sha-256"]?.split(separator: " ") == ["A", "b"])
            #expect(try await bucket.store.read(key) == content)
            try await bucket.store.delete(key)
            #expect(try await bucket.store.head(key) == nil)
        }
    }

    @Test func `is listed below its folder, without objects of others`() async throws {
        let bucket = try TestBucket()
        let names = ["f/1", "f/a b+c", "f/g/2", "fog/3", "g"]
        for name in names {
            let key = try #require(ObjectKey(name))
            _ = try await bucket.store.put(key, .bytes([1, 2]), type: "a/b")
        }
        let listed = try await bucket.store.objects(below: "f/").all()
        #expect(listed.map(\.key.text).sorted() == ["f/1", "f/a b+c", "f/g/2"])
        #expect(listed.allSatisfy { object in object.size == 2 && object.modified != nil })
        #expect(try await bucket.store.objects(below: "none/").all() == [])
    }

    @Test(arguments: ["a b+c", "ü/€/%41", "!'()*:@&=$,;?#[]", "a~_-.b", "…/.../a"])
    func `may have a name that must be escaped`(name: String) async throws {
        let bucket = try TestBucket()
        let key = try #require(ObjectKey(name))
        _ = try await bucket.store.put(key, .bytes([1, 2, 3]), type: "a/b")
        #expect(try await bucket.store.read(key) == [1, 2, 3])
        try await bucket.store.delete(key)
    }

    @Test(
        arguments: [
            (0..<1, 0..<1), (1..<10, 1..<10), (0..<1000, 0..<1000), (999..<1000, 999..<1000),
            (10..<5000, 10..<1000),
        ] as [(Range<Int64>, Range<Int64>)])
    func `is read in ranges`(asked: Range<Int64>, given: Range<Int64>) async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        _ = try await bucket.store.put(key, .bytes(patternBytes(1000)), type: "a/b")
        let stream = try await bucket.store.get(key, range: asked)
        #expect(stream.range == given)
        #expect(stream.size == 1000)
        let content = try await bucket.store.read(key, range: asked)
        #expect(content[...] == patternBytes(1000)[Int(given.lowerBound)..<Int(given.upperBound)])
    }

    @Test func `has no range beyond its end, and no empty range`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        _ = try await bucket.store.put(key, .bytes(patternBytes(10)), type: "a/b")
        let behind = try await fault { _ = try await bucket.store.get(key, range: 10..<11) }
        #expect(behind.kind == .unsatisfiableRange)
        let empty = try await fault { _ = try await bucket.store.get(key, range: 3..<3) }
        #expect(empty.kind == .invalid)
    }

    @Test func `that is missing is reported as missing, and deleting it succeeds`()
        async throws
    {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        #expect(try await bucket.store.head(key) == nil)
        try await bucket.store.delete(key)
        let missing = try await fault { _ = try await bucket.store.get(key) }
        #expect(missing.kind == .missingObject)
        #expect(missing.code == "NoSuchKey")
        #expect(missing.status == 404)
    }

    @Test func `is replaced only if its condition holds`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        let first = try await bucket.store.put(key, .bytes([1]), type: "a/b", condition: .absent)
        let second = try await fault {
            _ = try await bucket.store.put(key, .bytes([2]), type: "a/b", condition: .absent)
        }
        #expect(second.kind == .preconditionFailed)
        _ = try await bucket.store.put(key, .bytes([3]), type: "a/b", condition: .matches(first))
        let third = try await fault {
            _ = try await bucket.store.put(
                key, .bytes([4]), type: "a/b", condition: .matches(first))
        }
        #expect(third.kind == .preconditionFailed)
        #expect(try await bucket.store.read(key) == [3])
    }

    @Test func `is not stored with values that no header can hold`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        for (type, metadata) in [
            ("", [:]), ("a\r\nb: c", [:]), ("a/b", ["A": "b"]), ("a/b", ["a": "ü"]),
            ("a/b", ["": "b"]),
        ] as [(String, [String: String])] {
            let wrong = try await fault {
                _ = try await bucket.store.put(key, .bytes([]), type: type, metadata: metadata)
            }
            #expect(wrong.kind == .invalid)
        }
    }

    @Test func `is not stored from a body that cannot be read`() async throws {
        struct Broken: Error {}
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        let broken = try await fault {
            _ = try await bucket.store.put(key, .stored(5) { _, _ in throw Broken() }, type: "a/b")
        }
        #expect(broken.kind == .unreadableBody)
        let short = try await fault {
            _ = try await bucket.store.put(
                key, .stored(5) { _, position in position == 0 ? [1] : [] }, type: "a/b")
        }
        #expect(short.kind == .unreadableBody)
    }

    @Test func `is not stored if its digest differs`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        let wrong = try await fault {
            _ = try await bucket.store.put(
                key, .bytes([1]), type: "a/b", sha256: [UInt8](repeating: 7, count: 32))
        }
        #expect(wrong.kind == .damaged)
        #expect(try await bucket.store.head(key) == nil)
    }
}

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `A pre-signed URL` {
    private let client: HTTPClient

    init() throws { client = try HTTPClient() }

    @Test func `reads an object without any credentials, in ranges too (§10.4)`() async throws {
        let bucket = try TestBucket()
        let key = try #require(ObjectKey("a b/ü.txt"))
        _ = try await bucket.store.put(key, .bytes(patternBytes(100)), type: "a/b")
        let url = bucket.store.presignedURL(
            key, seconds: 60,
            overrides: ResponseOverrides(
                type: "text/plain; charset=utf-8", disposition: "attachment; filename=\"ü b\"",
                caching: "private, max-age=60"))
        let whole = try await client.send(ClientRequest(.get, url), bodyLimit: 1000)
        #expect(whole.status == 200)
        #expect(whole.body == patternBytes(100))
        #expect(whole.fields["Content-Type"] == "text/plain; charset=utf-8")
        #expect(whole.fields["Cache-Control"] == "private, max-age=60")
        let part = try await client.send(
            ClientRequest(.get, url, fields: [("Range", "bytes=10-19")]), bodyLimit: 1000)
        #expect(part.status == 206)
        #expect(part.body[...] == patternBytes(100)[10..<20])
    }

    @Test func `is valid for its method and its time only`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key()
        _ = try await bucket.store.put(key, .bytes([1]), type: "a/b")
        let head = bucket.store.presignedURL(key, method: .head, seconds: 60)
        #expect(try await client.send(ClientRequest(.head, head), bodyLimit: 1000).status == 200)
        #expect(try await client.send(ClientRequest(.get, head), bodyLimit: 1000).status == 403)
        let past = try TestBucket(
            { $0.prefix = bucket.store.settings.prefix }, clock: 1_700_000_000_000)
        let old = past.store.presignedURL(key, seconds: 60)
        #expect(try await client.send(ClientRequest(.get, old), bodyLimit: 1000).status == 403)
    }

    @Test func `carries the token of a session`() async throws {
        let bucket = try TestBucket {
            $0.credentials = Credentials(
                accessKey: "guest", secretKey: "guest-and-more", sessionToken: "session")
        }
        let key = try TestBucket.key()
        _ = try await bucket.store.put(key, .bytes([1]), type: "a/b")
        let url = bucket.store.presignedURL(key, seconds: 60)
        #expect(try await client.send(ClientRequest(.get, url), bodyLimit: 1000).body == [1])
    }

    @Test(arguments: [(0, "1"), (604_801, "604800")])
    func `is valid as long as stores allow`(seconds: Int, given: String) throws {
        let url = try TestBucket().store.presignedURL(try TestBucket.key(), seconds: seconds)
        #expect(url.contains("X-Amz-Expires=\(given)&"))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A stream of an object` {
    private static let head =
        "HTTP/1.1 206 OK\r\nETag: \"t\"\r\nContent-Range: bytes 0-9/10\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n"

    @Test func `with slow readers delays no other request`() async throws {
        let server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                guard head.hasPrefix("GET ") else {
                    _ = connection.read(3)
                    connection.write("HTTP/1.1 200 OK\r\nETag: \"t\"\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                connection.write(
                    "HTTP/1.1 200 OK\r\nETag: \"t\"\r\nContent-Length: \(1 << 40)\r\n\r\n")
                let piece = [UInt8](repeating: 1, count: 64 << 10)
                while connection.write(piece) {}
                return
            }
        }
        let store = try store(at: server)
        let key = try TestBucket.key()
        var streams: [ObjectStream] = []
        for _ in 0..<40 { streams.append(try await store.get(key)) }
        #expect(try await store.put(key, .bytes([1, 2, 3]), type: "a/b") == "\"t\"")
        for stream in streams { stream.cancel() }
    }

    @Test func `ends with its last byte, even if the connection then breaks`() async throws {
        let requests = Locked(0)
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            requests.withLock { $0 += 1 }
            // Without the last chunk.
            connection.write(Self.head + "a\r\n0123456789\r\n")
        }
        let content = try await store(at: server).read(try TestBucket.key(), range: 0..<10)
        #expect(content == Array("0123456789".utf8))
        #expect(requests.withLock { $0 } == 1)
    }

    @Test(arguments: [false, true])
    func `that is cancelled while it waits for a retry stays cancelled`(
        isAsked: Bool
    ) async throws {
        let requests = Locked(0)
        let stream = Locked<ObjectStream?>(nil)
        let cancel: @Sendable () -> Void = { stream.withLock { $0 }?.cancel() }
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            let isFirst = requests.withLock { count in
                count += 1
                return count == 1
            }
            if !isFirst, isAsked { cancel() }
            connection.write(
                isFirst
                    ? Self.head + "5\r\n01234\r\n"
                    : "HTTP/1.1 206 OK\r\nETag: \"t\"\r\nContent-Range: bytes 5-9/10\r\n"
                        + "Content-Length: 5\r\n\r\n56789")
        }
        let store = try store(at: server) { _ in if !isAsked { cancel() } }
        let opened = try await store.get(try TestBucket.key(), range: 0..<10)
        stream.withLock { $0 = opened }
        #expect(try await opened.next() == Array("01234".utf8))
        let ended = try await fault { _ = try await opened.next() }
        #expect(ended.kind == .cancelled)
        #expect(requests.withLock { $0 } == (isAsked ? 2 : 1))
    }

    private func store(
        at server: ScriptedServer, sleep: @escaping @Sendable (Int64) async -> Void = { _ in }
    ) throws -> ObjectStore {
        try ObjectStore(
            ObjectStoreSettings(
                endpoint: "http://127.0.0.1:\(server.port)", bucket: "parley",
                credentials: Credentials(accessKey: "a", secretKey: "b")),
            clock: ObjectStoreClock(now: { 0 }, sleep: sleep))
    }
}
