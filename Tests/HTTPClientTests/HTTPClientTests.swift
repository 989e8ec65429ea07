import Glibc
import HTTP
import HTTPTransport
import SystemSupport
import TestSupport
import Testing

@testable import HTTPClient

/// Requests to well-behaved servers.
@Suite(.timeLimit(.minutes(5))) struct HTTPClientTests {
    @Test(arguments: [Method.get, .post, .put, .patch, .delete, .options])
    func `A request is received as it was sent`(method: Method) async throws {
        try await echoing { base in
            var request = ClientRequest(method, "\(base)/a%20b/../c?d=e%2Ff")
            request.fields = [("X-One", "1"), ("X-Empty", "")]
            request.body = method == .get ? .none : .bytes(Array("a body".utf8))
            let answer = try await HTTPClient().send(request, bodyLimit: 4096)
            #expect(answer.status == 200)
            #expect(answer.fields["Content-Type"] == "text/plain")
            let lines = String(decoding: answer.body, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.first == "\(method.rawValue) /a%20b/../c d=e%2Ff")
            #expect(lines.contains("x-one: 1"))
            #expect(lines.contains("x-empty: "))
            #expect(lines.last == (method == .get ? "" : "a body"))
        }
    }

    @Test
    func `HEAD has a response without a body, and POST without a body sends Content-Length 0`()
        async throws
    {
        try await echoing { base in
            let client = try HTTPClient()
            let head = try await client.send(ClientRequest(.head, "\(base)/"), bodyLimit: 0)
            #expect(head.status == 200 && head.body.isEmpty)
            let post = try await client.send(ClientRequest(.post, "\(base)/"), bodyLimit: 4096)
            #expect(String(decoding: post.body, as: UTF8.self).contains("content-length: 0"))
        }
    }

    @Test func `A stored body of many reads is sent whole, and its progress is reported`()
        async throws
    {
        let bytes = Array(
            (0..<(5 << 20)).lazy.map { index in UInt8(truncatingIfNeeded: index / 7) })
        let progress = Progress()
        let sizes = Service { request in
            Answer("size", BodyPolicy(limit: 8 << 20)) { body in
                let sum = try? await body.collect()
                return Response(.ok, "text/plain", Array("\(sum == bytes)".utf8))
            }
        }
        try await serving(sizes) { base in
            var request = ClientRequest(.put, base)
            request.body = .stored(Int64(bytes.count)) { count, position in
                Array(bytes[Int(position)...].prefix(count))
            }
            request.onBytesSent = { count in progress.note(count) }
            let answer = try await HTTPClient().send(request, bodyLimit: 100)
            #expect(String(decoding: answer.body, as: UTF8.self) == "true")
            #expect(progress.steps.count > 10)
            #expect(progress.steps == progress.steps.sorted())
            #expect(progress.steps.last == Int64(bytes.count))
        }
    }

    @Test func `Connections are reused, and no more than allowed are opened`() async throws {
        let most = Progress()
        let server = try ScriptedServer { connection in
            most.note(Int64(connection.number))
            while connection.readHead() != nil {
                usleep(2000)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        var settings = HTTPClientSettings()
        settings.connectionsPerHost = 4
        let client = try HTTPClient(settings)
        let url = "http://127.0.0.1:\(server.port)/"
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await client.send(ClientRequest(.get, url), bodyLimit: 2).status
                }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(most.steps.count == 4)
    }

    @Test func `A kept-alive connection that the server has closed causes no error`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let client = try HTTPClient()
        for _ in 0..<20 {
            let answer = try await client.send(
                ClientRequest(.get, "http://127.0.0.1:\(server.port)/"), bodyLimit: 0)
            #expect(answer.status == 200)
        }
    }

    @Test func `Interim responses are skipped, and a redirect is a response`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            connection.write("HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\n")
            connection.write("Content-Length: 4\r\nX-Two:  a \r\nX-Two: b\r\n\r\nbody")
        }
        let answer = try await HTTPClient().send(
            ClientRequest(.get, "http://127.0.0.1:\(server.port)/"), bodyLimit: 4)
        #expect(answer.status == 301)
        #expect(answer.fields["location"] == "http://127.0.0.1:1/")
        #expect(answer.fields.values("X-Two") == ["a", "b"])
        #expect(!answer.fields.contains("Link"))
        #expect(String(decoding: answer.body, as: UTF8.self) == "body")
    }

    @Test
    func `A stream that is not read makes the server wait, and releasing it closes the connection`()
        async throws
    {
        let sent = Progress()
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n")
            let chunk = [UInt8](repeating: 1, count: 64 << 10)
            while connection.write(chunk) { sent.note(Int64(chunk.count)) }
            sent.end()
        }
        do {
            let stream = try await HTTPClient().open(
                ClientRequest(.get, "http://127.0.0.1:\(server.port)/"))
            var taken = 0
            while taken < 32 << 20 { taken += try await stream.next()?.count ?? 0 }
            var before = -1
            while before != sent.steps.count {
                before = sent.steps.count
                try await Task.sleep(for: .milliseconds(200))
            }
            // The buffers of both sockets and of the stream are full; the rest is not sent.
            #expect(sent.steps.reduce(0, +) < taken + 16 << 20)
        }
        while !sent.hasEnded { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// Runs a server that returns the request as text.
    private func echoing(_ body: (_ base: String) async throws -> Void) async throws {
        let echo = Service { request in
            var text = "\(request.method.rawValue) \(request.target.path)"
            text += " \(request.target.query ?? "")\n"
            for field in request.fields.all {
                text += "\(field.name.lowercased()): \(field.value)\n"
            }
            let head = text + "\n"
            return Answer("echo") { body in
                let bytes = (try? await body.collect()) ?? []
                return Response(.ok, "text/plain", Array(head.utf8) + bytes)
            }
        }
        try await serving(echo, body)
    }
}

/// Behaviour of libcurl that must be turned off.
@Suite(.timeLimit(.minutes(5))) struct `One request` {
    @Test(arguments: [nil, "100-continue"])
    func `sends Expect only when the caller does, and returns a 417`(
        expected: String?
    ) async throws {
        let heads = Locked<[String]>([])
        let server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                heads.withLock { $0.append(head) }
                // The body is long enough for libcurl to send `Expect` itself.
                if !head.contains("Expect:"), connection.read(2 << 20) == nil { return }
                connection.write(
                    "HTTP/1.1 417 No\r\nContent-Length: \(expected == nil ? 5 : 0)\r\n")
                connection.write(expected == nil ? "\r\nfirst" : "Connection: close\r\n\r\n")
                if expected != nil { return }
            }
        }
        var request = ClientRequest(
            .put, "http://127.0.0.1:\(server.port)/",
            body: .bytes([UInt8](repeating: 1, count: 2 << 20)))
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

    @Test func `offers only HTTP/1.1 in the TLS handshake`() async throws {
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
        // Extension 16: its length, the length of the list, the length of the only name.
        let offer = [0, 16, 0, 11, 0, 9, 8] + Array("http/1.1".utf8)
        #expect(hello.withLock { $0.contains(offer) })
    }
}
