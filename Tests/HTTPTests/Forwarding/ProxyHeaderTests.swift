import Bytes
import HTTP
import TestSupport
import Testing

@Suite struct `PROXY headers` {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    /// From 192.0.2.43 port 4711 to 10.0.0.1 port 443.
    private static let ipv4: [UInt8] = [192, 0, 2, 43, 10, 0, 0, 1, 0x12, 0x67, 1, 0xBB]
    private static let ipv6: [UInt8] =
        [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [0x17]
        + [UInt8](repeating: 0, count: 15) + [1, 0x12, 0x67, 1, 0xBB]

    private static func header(
        _ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? rest.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 255)] + rest
    }

    /// A valid header and its client.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let source: PeerAddress?

        init(_ name: String, _ bytes: [UInt8], _ source: PeerAddress?) {
            testDescription = name
            self.bytes = bytes
            self.source = source
        }
    }

    static let valid: [Case] = [
        Case("TCP over IPv4", header(0x21, 0x11, ipv4), .named("192.0.2.43", port: 4711)),
        Case("TCP over IPv6", header(0x21, 0x21, ipv6), .named("2001:db8::17", port: 4711)),
        Case(
            "IPv4 mapped into IPv6",
            header(
                0x21, 0x21,
                [UInt8](repeating: 0, count: 10) + [255, 255, 192, 0, 2, 43] + ipv6[16...]),
            .named("192.0.2.43", port: 4711)),
        Case("a Unix socket", header(0x21, 0x31, [UInt8](repeating: 0, count: 216)), .unknown),
        Case("LOCAL", header(0x20, 0x00, []), nil),
        Case("LOCAL with an address", header(0x20, 0x11, ipv4), nil),
        Case("LOCAL with anything", header(0x20, 0xFF, [1, 2, 3]), nil),
        Case("an unspecified family", header(0x21, 0x00, []), nil),
        Case("an unspecified family with something", header(0x21, 0x00, [1, 2, 3]), nil),
        Case(
            "extensions", header(0x21, 0x11, ipv4 + [0x04, 0, 2, 9, 9, 0xEA, 0, 0]),
            .named("192.0.2.43", port: 4711)),
        Case(
            "the longest",
            header(0x21, 0x11, ipv4 + [0x04, 0x03, 0xF1] + [UInt8](repeating: 7, count: 1009)),
            .named("192.0.2.43", port: 4711)),
        Case(
            "a checksum", checked(header(0x21, 0x11, ipv4 + [3, 0, 4, 0, 0, 0, 0, 4, 0, 1, 8])),
            .named("192.0.2.43", port: 4711)),
    ]

    /// Writes the correct checksum into the last four zeros after `3, 0, 4`.
    private static func checked(_ header: [UInt8]) -> [UInt8] {
        var crc = CRC32C()
        crc.update(header.span)
        let offset = 16 + 12 + 3
        var header = header
        for index in 0..<4 {
            header[offset + index] = UInt8(truncatingIfNeeded: crc.value >> UInt32(24 - 8 * index))
        }
        return header
    }

    @Test(arguments: valid) func `give the client, however they are split (H202)`(one: Case) {
        let message = one.bytes + Array("GET / HTTP/1.1\r\n".utf8)
        for count in 0..<one.bytes.count {
            #expect(ProxyHeader.read(message.span.extracting(..<count)) == .incomplete)
        }
        for count in one.bytes.count...message.count {
            #expect(
                ProxyHeader.read(message.span.extracting(..<count))
                    == .complete(count: one.bytes.count, source: one.source))
        }
        #expect(one.bytes.count <= ProxyHeader.maximumSize)
    }

    static let invalid: [(name: String, bytes: [UInt8], offset: Int)] = [
        ("a request", Array("GET / HTTP/1.1\r\n\r\n".utf8), 1),
        ("version 1", Array("PROXY TCP4 192.0.2.43 10.0.0.1 4711 443\r\n".utf8), 1),
        (
            "a bent signature",
            [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 13, 0x21, 0x11, 0, 12] + ipv4, 12
        ),
        ("version 1 in binary", header(0x11, 0x11, ipv4), 13),
        ("version 3", header(0x31, 0x11, ipv4), 13),
        ("an unknown command", header(0x22, 0x11, ipv4), 13),
        ("datagrams", header(0x21, 0x12, ipv4), 14),
        ("an unknown family", header(0x21, 0x41, ipv4), 14),
        ("a family without protocol", header(0x21, 0x10, ipv4), 14),
        ("a protocol without family", header(0x21, 0x01, ipv4), 14),
        ("too long by far", header(0x21, 0x11, ipv4, length: 0xFFFF), 15),
        ("too long by one", header(0x21, 0x11, ipv4, length: 1025), 16),
        ("too long and local", header(0x20, 0x00, [], length: 1025), 16),
        ("too short for its family", header(0x21, 0x11, Array(ipv4.dropLast())), 16),
        ("too short for IPv6", header(0x21, 0x21, ipv4), 16),
        ("half an extension", header(0x21, 0x11, ipv4 + [4, 0]), 30),
        ("an extension beyond the end", header(0x21, 0x11, ipv4 + [4, 0, 2, 1]), 32),
        ("a wrong checksum", header(0x21, 0x11, ipv4 + [3, 0, 4, 1, 2, 3, 4]), 35),
        ("a checksum of three bytes", header(0x21, 0x11, ipv4 + [3, 0, 3, 1, 2, 3]), 34),
        (
            "two checksums", header(0x21, 0x11, ipv4 + [3, 0, 4, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0]),
            42
        ),
    ]

    @Test(arguments: invalid.indices)
    func `are refused at the first byte that cannot be one (H202)`(index: Int) {
        let (name, bytes, offset) = Self.invalid[index]
        #expect(ProxyHeader.read(bytes.span.extracting(..<(offset - 1))) == .incomplete, "\(name)")
        for count in offset...bytes.count {
            #expect(ProxyHeader.read(bytes.span.extracting(..<count)) == .invalid, "\(name)")
        }
    }

    @Test func `are refused when any bit differs from what the checksum covers (H202)`() {
        let header = Self.valid[Self.valid.count - 1].bytes
        // Except the type of the checksum extension: without it there is no checksum to verify.
        for bit in 0..<header.count * 8 where bit / 8 != 28 {
            var bent = header
            bent[bit / 8] ^= 1 << (bit % 8)
            // PROXY may become LOCAL or an address unspecified: then no address is reported.
            switch ProxyHeader.read(bent.span) {
            case .complete(_, .some): Issue.record("bit \(bit) is not noticed")
            case .complete(_, nil), .incomplete, .invalid: break
            }
        }
    }

    @Test(arguments: 0..<3000)
    func `never trap, and never consume more than the input (H191, H215)`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let bytes = random.mutation(of: random.one(of: Self.valid).bytes)
        if case .complete(let count, _) = ProxyHeader.read(bytes.span) {
            #expect(count <= min(bytes.count, ProxyHeader.maximumSize))
        }
    }
}
