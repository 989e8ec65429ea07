import SystemSupport
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.timeLimit(.minutes(5))) struct `A list of a store` {
    private let asked = Locked<[String]>([])

    @Test func `reads all pages, each requested when it is needed`()
        async throws
    {
        let store = try store(pages: 25, of: 1000)
        var keys: [String] = []
        for try await object in store.objects(below: "f/") {
            keys.append(object.key.text)
            // Each page is requested after the one before has been read.
            #expect(asked.withLock { $0.count } == (keys.count - 1) / 1000 + 1)
        }
        #expect(keys == (0..<25_000).map { number in "f/\(number)" })
        #expect(asked.withLock { $0 } == (0..<25).map { number in "\(number)" })
    }

    @Test(arguments: [1, 3]) func `may have empty pages`(pages: Int) async throws {
        let store = try store(pages: pages, of: 0)
        #expect(try await store.objects(below: "f/").all() == [])
        #expect(asked.withLock { $0.count } == pages)
    }

    @Test func `ends with the store's error`() async throws {
        let store = try store(pages: .max, of: 1, until: 2)
        var count = 0
        let failure = try await fault {
            for try await _ in store.objects(below: "f/") { count += 1 }
        }
        #expect(failure.kind == .accessDenied)
        #expect(count == 2)
    }

    /// A store with that many pages of objects, named by their index; one page fails.
    private func store(pages: Int, of size: Int, until refused: Int = .max) throws -> ObjectStore {
        let asked = asked
        let server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                let token = head.split(separator: "continuation-token=").dropFirst().first
                let number = token.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
                asked.withLock { $0.append("\(number)") }
                guard number < refused else {
                    let body = "<Error><Code>AccessDenied</Code></Error>"
                    connection.write(
                        "HTTP/1.1 403 Forbidden\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                            + body)
                    continue
                }
                let objects = (number * size..<(number + 1) * size).map { bucket in
                    "<Contents><Key>f/\(bucket)</Key><Size>1</Size></Contents>"
                }.joined()
                let next =
                    number + 1 < pages
                    ? "<NextContinuationToken>\(number + 1)</NextContinuationToken>" : ""
                let body =
                    "<ListBucketResult><IsTruncated>\(!next.isEmpty)</IsTruncated>\(next)"
                    + "\(objects)</ListBucketResult>"
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let settings = ObjectStoreSettings(
            endpoint: "http://127.0.0.1:\(server.port)", bucket: "parley",
            credentials: Credentials(accessKey: "a", secretKey: "b"))
        servers.withLock { $0.append(server) }
        return try ObjectStore(settings, clock: ObjectStoreClock(now: { 0 }, sleep: { _ in }))
    }

    private let servers = Locked<[ScriptedServer]>([])
}
