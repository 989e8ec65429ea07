import Glibc
import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Limits of connections` {
        @Test func `a client above the limit gets an error and can connect again (H181)`()
            async throws
        {
            let text = try await serving(with: { limits in limits.maximumConnections = 2 }) {
                live in
                let first = try live.connect()
                var second: Client? = try live.connect()
                for client in [first, second] {
                    try client?.send(.head("GET /a HTTP/1.1"))
                    _ = try client?.answer()
                }
                let refused = try live.connect()
                try refused.send(.head("GET /b HTTP/1.1"))
                let text = try refused.rest()
                let statistics = live.statistics()
                #expect(statistics?.refused == [.full: 1])
                second = nil
                while live.server.connectionCount > 1 { usleep(1000) }
                let again = try live.connect()
                try again.send(.head("GET /c HTTP/1.1"))
                #expect(try again.answer().text == "/c")
                return text
            }
            #expect(text.hasPrefix("HTTP/1.1 503 "))
            #expect(text.contains("\r\nRetry-After: "))
            #expect(text.contains("\r\nConnection: close\r\n"))
        }

        @Test func `the connections of one client are limited (H182)`() async throws {
            try await serving(with: { limits in limits.maximumConnectionsPerAddress = 2 }) { live in
                var clients = [try live.connect(), try live.connect()]
                for client in clients {
                    try client.send(.head("GET /a HTTP/1.1"))
                    _ = try client.answer()
                }
                let refused = try live.connect()
                #expect(try refused.endsWithoutAnswer())
                let statistics = live.statistics()
                #expect(statistics?.refused == [.client: 1])
                #expect(live.server.clientCount == 1)
                clients.removeLast()
                while live.server.connectionCount > 1 { usleep(1000) }
                let again = try live.connect()
                try again.send(.head("GET /b HTTP/1.1"))
                #expect(try again.answer().text == "/b")
            }
        }

        @Test func `the connections of trusted proxies are not limited (H182)`() async throws {
            let count = try await serving(
                with: { limits in
                    limits.maximumConnectionsPerAddress = 1
                    limits.trust.proxies = [AddressBlock("127.0.0.1")].compactMap { block in block }
                },
                { live in
                    let clients = try (0..<4).map { _ in try live.connect() }
                    return try clients.count { client in
                        try client.send(.head("GET /a HTTP/1.1"))
                        return try client.answer().status == 200
                    }
                })
            #expect(count == 4)
        }

        @Test func `a client that has disconnected is no longer counted (H182, H191)`() async throws
        {
            try await serving(with: { limits in limits.maximumConnectionsPerAddress = 4 }) { live in
                for _ in 0..<40 {
                    let client = try live.connect()
                    try client.send("GET /")
                    client.reset()
                    while live.server.connectionCount > 0 { usleep(1000) }
                }
                // The last one may not have been accepted yet when the count was zero.
                try eventually { live.server.clientCount == 0 }
            }
        }

        @Test func `a client that floods one connection does not hold up another (H184)`()
            async throws
        {
            let order = ArrivalOrder()
            let service = TestService { request in
                order.note(request.target.path)
                return Answer("", Response(.noContent))
            }
            let counts = try await serving(service, with: { limits in limits.readPerTurn = 8192 }) {
                live in
                let blocker = try live.connect()
                let flood = try live.connect()
                let other = try live.connect()
                for client in [blocker, flood, other] {
                    try client.send(.head("GET /first HTTP/1.1"))
                    _ = try client.answer(withoutContent: true)
                }
                // The loop is blocked until both have sent all they can.
                order.block()
                try blocker.send(.head("GET /blocked HTTP/1.1"))
                order.waitUntilBlocked()
                let request = Array(String.head("GET /flood HTTP/1.1").utf8)
                let many = [[UInt8]](repeating: request, count: 20_000).flatMap { bytes in bytes }
                let sent = flood.sendUntilBlocked(many)
                try other.send(.head("GET /other HTTP/1.1"))
                order.unblock()
                #expect(try other.answer(withoutContent: true).status == 204)
                return (order.count(before: "/other"), sent / request.count)
            }
            // One or two turns of 8 KiB come first, with requests of some 30 bytes.
            #expect(counts.0 <= 3 * 8192 / 28)
            #expect(counts.1 > 3 * 8192 / 28)
        }

        @Test func `connections end at different ages (H84)`() async throws {
            let ages = try await serving(with: { limits in limits.maximumAge = 400 }) { live in
                try (0..<5).map { _ in
                    let client = try live.connect()
                    let start = now()
                    while true {
                        try client.send(.head("GET /a HTTP/1.1"))
                        if try client.answer()["Connection"] == "close" { return now() - start }
                    }
                }
            }
            #expect(ages.allSatisfy { age in age >= 340 })
            #expect(Set(ages).count > 1)
        }

        @Test func `an idle connection holds no buffer (H59)`() async throws {
            let count = 100
            let grown = try await serving(with: { limits in
                limits.maximumConnectionsPerAddress = 500
            }) { live in
                let body = String(repeating: "x", count: 200_000)
                let ask = { (client: Client) in
                    try client.send(
                        .head("PUT /a HTTP/1.1", "Content-Length: \(body.utf8.count)") + body)
                    #expect(try client.answer().content.count == body.utf8.count)
                }
                let warm = try live.connect()
                for _ in 0..<20 { try ask(warm) }
                var clients: [Client] = []
                defer { withExtendedLifetime(clients) {} }
                // Other suites share the process and grow, too, but not each time. Memory held by
                // connections grows each time, because all of them stay open.
                return try (0..<4).map { _ in
                    let before = try residentBytes()
                    let more = try (0..<count).map { _ in try live.connect() }
                    clients += more
                    for client in more { try ask(client) }
                    return try residentBytes() - before
                }
            }
            #expect(try #require(grown.min()) <= count * (16 << 10))
        }
    }
}

/// Milliseconds of a monotonic clock.
private func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

extension Client {
    /// Whether the peer ends the connection without sending anything.
    func endsWithoutAnswer() throws -> Bool {
        do {
            return try rest().isEmpty
        } catch Failure.reset {
            return true
        }
    }
}

/// The paths of requests in their order of arrival; it can block the service.
private final class ArrivalOrder: @unchecked Sendable {
    // Sendable because the mutex guards everything.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var paths: [String] = []
    private var isBlocking = false

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit { mutex.deallocate() }

    func note(_ path: String) {
        locked { paths.append(path) }
        while path == "/blocked", locked({ isBlocking }) { usleep(1000) }
    }

    func block() { locked { isBlocking = true } }
    func unblock() { locked { isBlocking = false } }
    func waitUntilBlocked() { while locked({ paths.last != "/blocked" }) { usleep(1000) } }
    func count(before path: String) -> Int { locked { paths.firstIndex(of: path) ?? .max } }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
