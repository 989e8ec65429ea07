import Glibc
import HTTP
import HTTPTransport
import SystemSupport
import TestSupport
import Testing

@testable import HTTPClient

/// Invalid requests, and servers that misbehave.
@Suite(.timeLimit(.minutes(5))) struct HTTPClientErrorTests {
    @Test(arguments: [
        "", "ftp://127.0.0.1/", "file:///etc/hostname", "http://", "http://a b/",
        "http://a/\r\nX: y",
        "http://127.0.0.1:99999/", "127.0.0.1/",
    ])
    func `A URL that is not HTTP is rejected`(url: String) async throws {
        #expect(await kind(ClientRequest(.get, url)) == .invalidRequest)
    }

    @Test(arguments: [("X", "a\r\nY: b"), ("X\n", "a"), ("X", "a\0"), ("", "a")])
    func `A header cannot contain another line`(name: String, value: String) async throws {
        let request = ClientRequest(.get, "http://127.0.0.1:1/", fields: [(name, value)])
        #expect(await kind(request) == .invalidRequest)
    }

    @Test func `An unknown name and a closed port are distinguished`() async throws {
        let closed = try ScriptedServer { _ in }.port
        #expect(await kind(ClientRequest(.get, "http://unknown.invalid/")) == .unresolved)
        #expect(await kind(ClientRequest(.get, "http://127.0.0.1:\(closed)/")) == .unreachable)
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `A response that ends early or is invalid is broken`(text: String) async throws {
        let server = try responding(text)
        #expect(await kind(ClientRequest(.get, server.url)) == .broken)
    }

    @Test func `A body over the limit and an endless head are too large`() async throws {
        let large = try responding("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + filler(101))
        #expect(await kind(ClientRequest(.get, large.url)) == .tooLarge)
        let endless = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\n")
            while connection.write("X-Filler: \(filler(1000))\r\n") {}
        }
        #expect(await kind(ClientRequest(.get, endless.url)) == .tooLarge)
    }

    @Test func `A stalled response ends at each time limit`() async throws {
        let silent = try ScriptedServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            _ = connection.read(1)
        }
        var bounded = ClientRequest(.get, silent.url)
        bounded.totalTimeout = .milliseconds(200)
        #expect(await kind(bounded) == .timedOut)
        // The server reads the request and sends nothing.
        let listening = try ScriptedServer { connection in
            _ = connection.readHead()
            while connection.read(1) != nil {}
        }
        var unanswered = ClientRequest(.post, listening.url, body: .bytes([1, 2, 3]))
        unanswered.responseTimeout = .milliseconds(200)
        #expect(await kind(unanswered) == .timedOut)
        var stalled = ClientRequest(.get, silent.url)
        stalled.stallTimeout = .seconds(1)
        #expect(await kind(stalled) == .timedOut)
    }

    @Test func `A forbidden address is not connected to`() async throws {
        let dialled = Progress()
        let server = try ScriptedServer { connection in dialled.note(1) }
        var settings = HTTPClientSettings()
        settings.allowsAddress = { address in
            if case .ipv4(let bits, _) = address { return bits >> 24 != 127 }
            return false
        }
        for host in ["127.0.0.1", "localhost", "127.1", "0x7f000001", "[::ffff:127.0.0.1]"] {
            let request = ClientRequest(.get, "http://\(host):\(server.port)/")
            let kind = await kind(request, try HTTPClient(settings))
            // In some containers localhost cannot be resolved.
            #expect(kind == .refusedAddress || host == "localhost" && kind == .unresolved)
        }
        #expect(dialled.steps.isEmpty)
    }

    @Test func `TLS needs a certificate of a trusted authority, for the right host`() async throws {
        let folder = TemporaryFolder()
        let pair = try DevelopmentCertificate.write(to: folder.path, hosts: [])
        let service = Service { _ in
            Answer("hello", Response(.ok, "text/plain", Array("hello".utf8)))
        }
        try await serving(service, tls: pair) { base in
            #expect(await kind(ClientRequest(.get, base)) == .insecure)
            var settings = HTTPClientSettings()
            settings.caBundle = pair.chain
            let client = try HTTPClient(settings)
            let answer = try await client.send(ClientRequest(.get, base), bodyLimit: 100)
            #expect(String(decoding: answer.body, as: UTF8.self) == "hello")
            settings.caBundle = "\(folder.path)/none.pem"
            let without = try HTTPClient(settings)
            #expect(await kind(ClientRequest(.get, base), without) == .insecure)
        }
        try await serving(service, at: 0x7F00_0002, tls: pair) { base in
            var settings = HTTPClientSettings()
            settings.caBundle = pair.chain
            let client = try HTTPClient(settings)
            #expect(await kind(ClientRequest(.get, base), client) == .insecure)
        }
    }

    @Test func `A body that cannot be read fails the request`() async throws {
        let server = try ScriptedServer { connection in
            while connection.read(1) != nil {}
        }
        struct Unreadable: Error {}
        for body in [
            ClientBody.stored(10) { _, _ in throw Unreadable() }, .stored(10) { _, _ in [] },
            .stored(10) { _, _ in [UInt8](repeating: 0, count: 1 << 20) },
        ] {
            let request = ClientRequest(.put, server.url, body: body)
            #expect(await kind(request) == .unreadableBody)
        }
    }

    @Test func `Cancelling a task cancels its request, before and after the head`() async throws {
        let (arrived, closed) = (Progress(), Progress())
        let server = try ScriptedServer { connection in
            if connection.readHead()?.contains("/headless") == false {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            }
            arrived.note(1)
            _ = connection.read(1)
            closed.note(1)
        }
        for (number, path) in ["headless", "half"].enumerated() {
            let task = Task { await kind(ClientRequest(.get, "\(server.url)\(path)")) }
            while arrived.steps.count == number { try await Task.sleep(for: .milliseconds(10)) }
            try await Task.sleep(for: .milliseconds(100))
            task.cancel()
            #expect(await task.value == .cancelled)
            while closed.steps.count == number { try await Task.sleep(for: .milliseconds(10)) }
        }
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            return await kind(ClientRequest(.get, server.url))
        }
        early.cancel()
        #expect(await early.value == .cancelled)
    }

    private func kind(
        _ request: ClientRequest, _ client: HTTPClient? = nil
    ) async -> HTTPClientError.Kind? {
        do throws(HTTPClientError) {
            let client = if let client { client } else { try HTTPClient() }
            _ = try await client.send(request, bodyLimit: 100)
            return nil
        } catch {
            return error.kind
        }
    }

    private func responding(_ text: String) throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(text)
        }
    }
}

private func filler(_ count: Int) -> String { String(repeating: "x", count: count) }

extension ScriptedServer {
    fileprivate var url: String { "http://127.0.0.1:\(port)/" }
}

@Suite struct `A request without a connection` {
    @Test(
        arguments: [
            (7, false, .refusedAddress), (7, true, .unreachable), (28, false, .timedOut),
            (52, true, .broken),
        ] as [(Int32, Bool, HTTPClientError.Kind)])
    func `fails with refusedAddress only when no other address was tried`(
        result: Int32, hasTriedToConnect: Bool, kind: HTTPClientError.Kind
    ) async throws {
        let library = try CurlLibrary.load()
        let kindSeen = Locked<HTTPClientError.Kind?>(nil)
        _ = await withCheckedContinuation { (waiter: CurlTransfer.HeadWaiter) in
            do throws(HTTPClientError) {
                let transfer = try CurlTransfer(
                    ClientRequest(.get, "http://a/"), 1, waiter, library, HTTPClientSettings())
                transfer.refusal = HTTPClientError(.refusedAddress, "not allowed")
                transfer.hasTriedToConnect = hasTriedToConnect
                let outcome = transfer.outcome(of: result)
                if case .failure(let error) = outcome { kindSeen.withLock { $0 = error.kind } }
                _ = transfer.finish(outcome)
            } catch {
                waiter.resume(returning: .failure(error))
            }
        }
        #expect(kindSeen.withLock { $0 } == kind)
    }
}
