import Glibc
import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Listening` {
        @Test func `an address in use is a clear error, and leaks nothing (H193)`() async throws {
            let (error, count) = try await serving { live in
                var configuration = ServerConfiguration()
                configuration.addresses = [.ipv4(0x7F00_0001, port: 0), live.address]
                let before = live.descriptors.count
                var error: SystemError?
                do {
                    _ = try Server(configuration, service: TestService()).start()
                } catch let failure as SystemError {
                    error = failure
                }
                return (error, live.descriptors.count - before)
            }
            #expect(error?.isAddressInUse == true)
            #expect(error?.description == "binding an address failed: Address already in use")
            #expect(count == 0)
        }

        @Test func `an address of another host is an error (H193)`() {
            var configuration = ServerConfiguration()
            configuration.addresses = [.ipv4(0xC000_0201, port: 0)]
            #expect(throws: SystemError.self) {
                try Server(configuration, service: TestService()).start()
            }
        }

        @Test func `one socket serves IPv4 and IPv6 (H193)`() async throws {
            let texts = try await serving(
                TestService { request in
                    Answer("", Response(.ok, "a/b", Array("\(request.peer)".utf8)))
                },
                with: { limits in limits.addresses = [.ipv6(.any, port: 0)] },
                { live in
                    try [
                        ListenAddress.ipv4(0x7F00_0001, port: live.address.port),
                        .ipv6(.loopback, port: live.address.port),
                    ].map { address in
                        let client = try Client(to: address)
                        try client.send(.head("GET / HTTP/1.1"))
                        return try client.answer().text
                    }
                })
            #expect(texts == ["127.0.0.1", "0:0:0:0:0:0:0:1"])
        }

        @Test func `a Unix socket is served, also where a killed server left its file (H193)`()
            async throws
        {
            let path = "/tmp/parley-http-\(getpid()).sock"
            unlink(path)
            defer { unlink(path) }
            for _ in 0..<2 {
                let text = try await serving(with: { limits in
                    limits.addresses = [.unix(path: path)]
                }) { live in
                    let client = try live.connect()
                    try client.send(.head("GET /unix HTTP/1.1"))
                    return try client.answer().text
                }
                #expect(text == "/unix")
            }
        }

        @Test func `a file that is no socket is an error, and stays (H193)`() throws {
            let path = "/tmp/parley-http-\(getpid())-3.sock"
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            defer { unlink(path) }
            var configuration = ServerConfiguration()
            configuration.addresses = [.unix(path: path)]
            let server = try Server(configuration, service: TestService())
            for attempt in [
                { _ = try server.start() }, { try ListenAddress.unix(path: path).check() },
            ] {
                #expect {
                    try attempt()
                } throws: { error in
                    (error as? SystemError)?.isNoSocket == true
                }
            }
            #expect(access(path, F_OK) == 0)
        }

        @Test func `an address is checked without listening (H193)`() async throws {
            try await serving { live in try live.address.check() }
            #expect(throws: SystemError.self) {
                try ListenAddress.ipv4(0xC000_0201, port: 1).check()
            }
            #expect(throws: SystemError.self) {
                try ListenAddress.unix(path: "/nowhere/a.sock").check()
            }
            let path = "/tmp/parley-http-\(getpid())-4.sock"
            try ListenAddress.unix(path: path).check()
            #expect(access(path, F_OK) != 0)
        }

        @Test func `a Unix socket that is served is reported as in use (H193)`() async throws {
            let path = "/tmp/parley-http-\(getpid())-2.sock"
            unlink(path)
            defer { unlink(path) }
            let isInUse = try await serving(with: { limits in limits.addresses = [.unix(path: path)]
            }) { live in
                var configuration = ServerConfiguration()
                configuration.addresses = [live.address]
                do {
                    _ = try Server(configuration, service: TestService()).start()
                    return false
                } catch let error as SystemError {
                    return error.isAddressInUse
                }
            }
            #expect(isInUse)
        }

        @Test func `several addresses and several loops serve together (H193)`() async throws {
            var configuration = ServerConfiguration()
            configuration.loops = 3
            configuration.addresses = [.ipv4(0x7F00_0001, port: 0), .ipv4(0x7F00_0002, port: 0)]
            let server = try Server(configuration, service: TestService())
            let addresses = try server.start()
            let texts = try await onThread {
                try (0..<60).map { number in
                    let client = try Client(to: addresses[number % 2])
                    try client.send(.head("GET /\(number) HTTP/1.1"))
                    return try client.answer().text
                }
            }
            _ = await server.drain(deadline: 1000)
            #expect(texts == (0..<60).map { number in "/\(number)" })
        }

        @Test func `at the limit new connections wait until one ends (H181)`() async throws {
            let statuses = try await serving(with: { limits in
                limits.maximumConnections = 2
                limits.repliesToOverload = false
            }) { live in
                let clients = try (0..<3).map { _ in try live.connect() }
                for client in clients { try client.send(.head("GET / HTTP/1.1")) }
                let served = [try clients[0].answer().status, try clients[1].answer().status]
                clients[2].setTimeout(milliseconds: 150)
                #expect(throws: Client.Failure.timedOut) { try clients[2].receive() }
                clients[2].restoreTimeout()
                clients[0].finishSending()
                return served + [try clients[2].answer().status]
            }
            #expect(statuses == [200, 200, 200])
        }

        @Test func `a thousand connections leave no descriptor open (H191)`()
            async throws
        {
            let (most, clean, after) = try await serving(with: { limits in limits.loops = 2 }) {
                live in
                var clients = try (0..<1000).map { _ in try live.connect() }
                for client in clients { try client.send(.head("GET /x HTTP/1.1")) }
                for client in clients { _ = try client.answer() }
                let most = live.server.connectionCount
                // A third each: closed, half closed, reset.
                for (index, client) in clients.enumerated() where index % 3 != 0 {
                    if index % 3 == 1 { client.finishSending() } else { client.reset() }
                }
                clients = []
                return (most, live, live)
            }
            #expect(most == 1000)
            // The server has been stopped by now: descriptors that it leaked would still be open.
            #expect(clean.server.connectionCount == 0)
            #expect(after.descriptors.count == 0)
        }

        @Test func `descriptors are not inherited by child processes (H190)`() async throws {
            let areAll = try await serving { live in
                let client = try live.connect()
                try client.send(.head("GET /x HTTP/1.1"))
                _ = try client.answer()
                return live.descriptors.allSatisfy { descriptor in
                    fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0
                }
            }
            #expect(areAll)
        }

        @Test func `addresses are parsed and printed (H193)`() {
            #expect(ListenAddress("127.0.0.1:8080") == .ipv4(0x7F00_0001, port: 8080))
            #expect(ListenAddress("localhost:1")?.description == "127.0.0.1:1")
            #expect(ListenAddress(":80")?.description == "0.0.0.0:80")
            #expect(ListenAddress("[::]:0") == .ipv6(.any, port: 0))
            #expect(ListenAddress("[::1]:65535")?.description == "[::1]:65535")
            #expect(ListenAddress("unix:/run/x.sock")?.description == "unix:/run/x.sock")
            for text in [
                "", "80", "h", "h:", "h:x", "1.2.3:80", "[::1:80", "::1:80", "h:65536", "unix:",
                "1.2.3.4:-1",
            ] {
                #expect(ListenAddress(text) == nil, "\(text)")
            }
            #expect(ListenAddress("unix:" + String(repeating: "a", count: 108)) == nil)
        }

        @Test func `the health probe reads the status of an answer`() async throws {
            let statuses = try await serving(
                TestService { request in
                    Answer(
                        "", Response(request.target.path == "/ready" ? .ok : .serviceUnavailable))
                },
                { live in
                    try ["/ready", "/broken"].map { path in
                        try HealthProbe.status(of: live.address, path: path)
                    }
                })
            #expect(statuses == [200, 503])
        }
    }
}
