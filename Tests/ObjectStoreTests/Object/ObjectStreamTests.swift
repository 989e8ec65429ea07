import HTTP
import HTTPClient
import Locking
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.timeLimit(.minutes(5))) struct `A stream of an object` {
    private static let head =
        "HTTP/1.1 206 OK\r\nETag: \"t\"\r\nContent-Range: bytes 0-9/10\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n"

    @Test func `whose readers are slow keeps nobody else waiting`() async throws {
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
        let key = try Workplace.key()
        var streams: [ObjectStream] = []
        for _ in 0..<40 { streams.append(try await store.get(key)) }
        #expect(try await store.put(key, .octets([1, 2, 3]), type: "a/b") == "\"t\"")
        for stream in streams { stream.cancel() }
    }

    @Test func `is at its end when its last byte came, whatever breaks behind it`() async throws {
        let requests = Locked(0)
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            requests.withLock { $0 += 1 }
            // Without the chunk that says that it was the last one.
            connection.write(Self.head + "a\r\n0123456789\r\n")
        }
        let content = try await store(at: server).read(try Workplace.key(), range: 0..<10)
        #expect(content == Array("0123456789".utf8))
        #expect(requests.withLock { $0 } == 1)
    }

    @Test(arguments: [false, true])
    func `that is ended while it waits to be asked for again stays ended`(
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
        let opened = try await store.get(try Workplace.key(), range: 0..<10)
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
