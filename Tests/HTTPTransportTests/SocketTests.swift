import Dispatch
import Glibc
import HTTP
import Testing

@testable import HTTPTransport

extension LiveServerTests {
    @Suite struct `The sockets of a server` {
        @Test func `sockets have keepalive and send small answers at once (H87, H192)`()
            async throws
        {
            let options = try await Self.accepted([
                (SOL_SOCKET, SO_KEEPALIVE), (Int32(IPPROTO_TCP), TCP_NODELAY),
                (Int32(IPPROTO_TCP), TCP_KEEPIDLE), (Int32(IPPROTO_TCP), TCP_KEEPINTVL),
                (Int32(IPPROTO_TCP), TCP_KEEPCNT), (Int32(IPPROTO_TCP), TCP_USER_TIMEOUT),
            ])
            #expect(options == [1, 1, 60, 10, 6, 60_000])
        }

        @Test
        func `the server, not the kernel, decides when a slow peer is disconnected (H178, H192)`()
            async throws
        {
            let options = try await Self.accepted(
                [(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT)],
                with: { configuration in configuration.writeIdleTimeout = 90_000 })
            #expect(options == [180_000])
        }

        /// Options of a socket that a server has accepted.
        private static func accepted(
            _ wanted: [(level: Int32, name: Int32)],
            with change: (inout ServerConfiguration) -> Void = { _ in }
        ) async throws -> [Int32] {
            try await serving(with: change) { live in
                let client = try live.connect()
                try client.send(.head("GET /x HTTP/1.1"))
                _ = try client.answer()
                // One of them is the client's; the server's is connected to it.
                let accepted = live.descriptors.first { descriptor in
                    descriptor != client.descriptor && peer(of: descriptor) != 0
                }
                return wanted.map { level, name in option(level, name, of: accepted ?? -1) }
            }
        }

        @Test func `a head and its content are sent together (H87)`() async throws {
            let pieces = try await serving { live in
                try (0..<20).map { _ in
                    let client = try live.connect()
                    try client.send(.head("GET /content HTTP/1.1"))
                    return String(decoding: try client.receive(), as: UTF8.self)
                }
            }
            #expect(pieces.allSatisfy { piece in piece.hasSuffix("\r\n\r\n/content") })
        }

        @Test func `a client that sends requests without pause does not starve others (H184)`()
            async throws
        {
            let statuses = try await serving { live in
                let client = try live.connect()
                let descriptor = client.descriptor
                let requests = Array(
                    String(repeating: .head("GET /client HTTP/1.1"), count: 500).utf8)
                let ended = DispatchGroup()
                DispatchQueue.global().async(group: ended) { @Sendable in
                    while send(descriptor, requests, requests.count, Int32(MSG_NOSIGNAL)) > 0 {}
                }
                DispatchQueue.global().async(group: ended) { @Sendable in
                    var buffer = [UInt8](repeating: 0, count: 65_536)
                    while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
                }
                defer {
                    client.reset()
                    ended.wait()
                }
                return try (0..<20).map { _ in
                    let client = try live.connect()
                    try client.send(.head("GET /modest HTTP/1.1"))
                    return try client.answer().status
                }
            }
            #expect(statuses == [Int](repeating: 200, count: 20))
        }

        private static func option(_ level: Int32, _ name: Int32, of descriptor: Int32) -> Int32 {
            var value: Int32 = -1
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, level, name, &value, &length) == 0 ? value : -1
        }

        /// The port of the other end; 0 for a listener.
        private static func peer(of descriptor: Int32) -> UInt16 {
            var form = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &form) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    getpeername(descriptor, pointer, &length)
                }
            }
            return result == 0 ? form.sin_port : 0
        }
    }
}

@Suite struct `Looking up a host` {
    @Test(arguments: [
        ("127.0.0.1", PeerAddress.ipv4(0x7F00_0001, port: 0)),
        ("::1", .ipv6(IPv6Address(high: 0, low: 1), port: 0)),
        ("::ffff:10.0.0.1", .ipv4(0x0A00_0001, port: 0)),
    ]) func `returns the address for the text of an address`(host: String, address: PeerAddress)
        async
    {
        let found = await HostLookup().addresses(of: host, within: .seconds(60))
        #expect(found == [address])
    }

    @Test func `finds nothing for a name that cannot exist (RFC 6761)`() async {
        let found = await HostLookup().addresses(of: "unknown.invalid", within: .seconds(60))
        #expect(found.isEmpty)
    }
}
