import FoundationEssentials
import TestSupport
import Testing

@testable import ParleyKit

/// Servers and proxies that answer what no Parley server answers: the client gets a typed error, keeps everything, and goes on
/// trying.
@Suite struct HostileServerTests {
    private static let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    private static let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

    /// Complete answers, each given to every request of a case.
    private static let answers: [String] = [
        "", "\r\n\r\n", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        body("<html><body>Please log in</body></html>", head: json),
        body("{", head: json), body("[]", head: json), body("null", head: json),
        body(#"{"items":5,"cursor":7,"more":"no"}"#, head: json),
        body(
            #"{"items":[{"type":"message"}],"cursor":"x","more":false,"reset":false}"#, head: json),
        body(#"{"id":99999999999999999999999999,"session_token":5,"nonce":{}}"#, head: json),
        body(String(repeating: "[", count: 5000), head: json),
        body("event: item\ndata: {\"type\":\"message\"}\n\n", head: stream),
        body("event: item\nid: 1\ndata: <html>\n\n", head: stream),
        body("event: ready\nid: \u{0}\ndata: {}\n\n", head: stream),
        body(
            "event: reset\nid: x.99999999999999999999\ndata: {}\n\nevent: signal\ndata: 7\n\n",
            head: stream),
        json + "Content-Length: 1000000000000\r\n\r\n{",
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 503 Busy\r\nRetry-After: 9223372036854775807\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
        json + "Parley-Cursor: a.b.c\r\nContent-Length: 2\r\n\r\n{}",
        json + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
    ]

    private static func body(_ text: String, head: String) -> String {
        "\(head)Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    @Test(arguments: answers.indices)
    func `an answer of another kind changes nothing (K69)`(_ index: Int) async throws {
        let answer = Self.answers[index]
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(answer)
        }
        let folder = TemporaryFolder()
        let client = try await Self.client(of: server.port, in: folder)
        let conversation = try await client.newConversation(with: ["bo"]).id
        try await client.send([.text("Hello")], to: conversation)
        client.connect()
        for _ in 0..<5 {
            client.kick()
            try await Task.sleep(for: .milliseconds(20))
        }
        await #expect(throws: ParleyError.self) {
            try await client.loadOlder(10, in: conversation)
            throw ParleyError.cancelled
        }
        await client.disconnect()
        #expect(try await client.texts(in: conversation) == ["Hello"])
        let delivery = try #require(try await client.messages(in: conversation).first?.delivery)
        #expect(delivery == .queued, "after \(answer.prefix(60))")
        await client.close()
    }

    @Test func `a server without any answer is given up, and kept trying`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            // The connection is closed without an answer.
        }
        let folder = TemporaryFolder()
        let client = try await Self.client(of: server.port, in: folder)
        client.connect()
        try await eventually("it waits with an error") {
            if case .waiting(_, let error) = client.connection { return error.isTransient }
            return false
        }
        await client.close()
    }

    @Test func `the feed waits as long as the server asks (K14)`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(
                "HTTP/1.1 503 Busy\r\nRetry-After: 70\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        }
        let folder = TemporaryFolder()
        let client = try await Self.client(of: server.port, in: folder)
        client.connect()
        try await eventually("it waits") {
            if case .waiting(let end, _) = client.connection {
                return end.timeIntervalSinceNow > 60
            }
            return false
        }
        await client.close()
    }

    /// A client whose session was begun elsewhere.
    private static func client(
        of port: UInt16, in folder: TemporaryFolder
    ) async throws -> ParleyClient {
        let client = try await openClient(
            Configuration(
                server: URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/"),
                application: KitServer.application, store: URL(filePath: folder.path),
                sessionToken: "token", of: "ana"))
        try await client.authenticate()
        return client
    }
}
