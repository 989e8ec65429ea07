import FoundationEssentials
import FoundationNetworking
import HTTP
import TestSupport
import Testing

@testable import ParleyKit
@testable import ParleyKitURLSession

/// Answers over `URLSession` that arrive faster than they are read.
@Suite(.timeLimit(.minutes(5))) struct URLSessionStreamTests {
    @Test func `an answer that is not read takes little memory, and is complete (K3)`() async throws
    {
        let size = 50 << 20
        let piece = (0..<1 << 20).map { index in UInt8(truncatingIfNeeded: index &* 31 ^ index >> 8)
        }
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            for _ in 0..<size / piece.count { guard connection.write(piece) else { return } }
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
        let transport = URLSessionTransport(server: url, transfers: 1, .ephemeral)
        var request = TransportRequest(method: .get, path: "/content")
        request.isStream = true
        let exchange = try await transport.exchange(request)
        // The slowest reader reads nothing before all has arrived.
        try await eventually("all has arrived", within: .seconds(120)) { exchange.hasEnded }
        #expect(exchange.bytesInMemory <= ReceivedBytes.memoryLimit)
        let stream = try await exchange.stream()
        var (received, isSame) = (0, true)
        while let bytes = try await stream.next() {
            #expect(bytes.count <= ReceivedBytes.memoryLimit)
            var rest = bytes[...]
            while !rest.isEmpty {
                let start = received % piece.count
                let next = piece[start..<min(start + rest.count, piece.count)]
                isSame = isSame && Array(rest.prefix(next.count)) == Array(next)
                rest = rest.dropFirst(next.count)
                received += next.count
            }
        }
        #expect(received == size)
        #expect(isSame)
    }
}
