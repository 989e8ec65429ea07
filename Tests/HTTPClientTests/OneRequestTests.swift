import HTTP
import Locking
import TestSupport
import Testing

@testable import HTTPClient

/// What libcurl would do of itself, and must not.
@Suite(.timeLimit(.minutes(5))) struct `One request` {
    @Test(arguments: [nil, "100-continue"])
    func `expects only what its caller expects, and a 417 is its answer`(
        expected: String?
    ) async throws {
        let heads = Locked<[String]>([])
        let server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                heads.withLock { $0.append(head) }
                // Long enough for libcurl to ask first.
                if !head.contains("Expect:"), connection.read(2 << 20) == nil { return }
                connection.write(
                    "HTTP/1.1 417 No\r\nContent-Length: \(expected == nil ? 5 : 0)\r\n")
                connection.write(expected == nil ? "\r\nfirst" : "Connection: close\r\n\r\n")
                if expected != nil { return }
            }
        }
        var request = ClientRequest(
            .put, "http://127.0.0.1:\(server.port)/",
            body: .octets([UInt8](repeating: 1, count: 2 << 20)))
        if let expected { request.fields = [("expect", expected)] }
        let client = try HTTPClient()
        let stream = try await client.open(request)
        #expect(stream.status == 417)
        if expected == nil {
            #expect(try await stream.next() == Array("first".utf8))
            #expect(try await stream.next() == nil)
            #expect(heads.withLock { $0.count } == 1)
        }
        let lines = try #require(heads.withLock { $0.first }).lowercased()
        #expect(lines.contains("\r\nexpect: 100-continue\r\n") == (expected != nil))
        #expect(lines.contains("expect") == (expected != nil))
    }

    @Test func `offers HTTP/1.1 alone when TLS asks`() async throws {
        let hello = Locked<[UInt8]>([])
        let server = try ScriptedServer { connection in
            guard let record = connection.read(5),
                let rest = connection.read(Int(record[3]) << 8 | Int(record[4]))
            else { return }
            hello.withLock { $0 = rest }
        }
        let client = try HTTPClient()
        await #expect(throws: HTTPClientError.self) {
            _ = try await client.open(ClientRequest(.get, "https://127.0.0.1:\(server.port)/"))
        }
        // Extension 16: its length, that of the list, that of the one name in it.
        let offer = [0, 16, 0, 11, 0, 9, 8] + Array("http/1.1".utf8)
        #expect(hello.withLock { $0.contains(offer) })
    }
}
