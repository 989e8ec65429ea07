import Bytes

/// Parses the header that a proxy sends at the start of a connection: the PROXY protocol, version 2
/// (PROXY protocol §2.2, H202).
///
/// Each call is given all bytes received so far; a header is at most ``maximumSize`` long, and the
/// first invalid byte ends parsing.
public enum ProxyHeader {
    /// The result of parsing the bytes received so far.
    public enum Outcome: Sendable, Equatable {
        /// The start of a header.
        case incomplete
        /// A header of `count` bytes. `source` is the client; `nil` when the proxy connects for
        /// itself (`LOCAL`) or does not know the client: then the socket's address is used.
        case complete(count: Int, source: PeerAddress?)
        /// Not a header: the connection is closed without an answer.
        case invalid
    }

    /// The longest accepted header: 16 fixed bytes and 1024 of addresses and extensions.
    public static let maximumSize = fixedSize + 1024

    private static let fixedSize = 16
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]

    /// The length of the header as far as it is known: at least that many bytes must be read.
    public static func size(_ bytes: Span<UInt8>) -> Int {
        bytes.count < fixedSize ? fixedSize : fixedSize + bytes.number(at: 14)
    }

    /// Parses a header at the start of a connection.
    public static func read(_ bytes: Span<UInt8>) -> Outcome {
        for position in 0..<min(bytes.count, signature.count)
        where bytes[position] != signature[position] {
            return .invalid
        }
        // Version 2 with command LOCAL or PROXY.
        guard bytes.count > 12 else { return .incomplete }
        guard bytes[12] == 0x20 || bytes[12] == 0x21 else { return .invalid }
        let isLocal = bytes[12] == 0x20
        guard bytes.count > 13 else { return .incomplete }
        let family = Family(rawValue: bytes[13])
        guard isLocal || family != nil else { return .invalid }
        guard bytes.count > 14 else { return .incomplete }
        guard bytes[14] <= 4 else { return .invalid }
        guard bytes.count >= fixedSize else { return .incomplete }
        let count = fixedSize + bytes.number(at: 14)
        guard count <= maximumSize else { return .invalid }
        // The rest of a `LOCAL` header and of an unspecified family is ignored (PROXY protocol
        // §2.2).
        guard let family, !isLocal, family != .unspecified else {
            return bytes.count < count
                ? .incomplete : .complete(count: count, source: nil)
        }
        let extensions = fixedSize + family.size
        guard extensions <= count else { return .invalid }
        guard bytes.count >= count else { return .incomplete }
        let header = bytes.extracting(..<count)
        guard areValid(header, from: extensions) else { return .invalid }
        return .complete(count: count, source: source(header, family))
    }

    /// Address family and protocol of the client's connection. HTTP uses stream sockets only.
    private enum Family: UInt8 {
        case unspecified = 0x00
        case ipv4 = 0x11
        case ipv6 = 0x21
        case unix = 0x31

        /// The size of both addresses and ports, in bytes.
        var size: Int {
            switch self {
            case .unspecified: 0
            case .ipv4: 12
            case .ipv6: 36
            case .unix: 216
            }
        }
    }

    private static func source(_ header: Span<UInt8>, _ family: Family) -> PeerAddress? {
        switch family {
        case .unspecified: nil
        // A socket path on the proxy's machine has no meaning here.
        case .unix: .unknown
        case .ipv4:
            .ipv4(
                UInt32(header.number(at: 16)) << 16 | UInt32(header.number(at: 18)),
                port: UInt16(header.number(at: 24)))
        case .ipv6:
            PeerAddress(
                IPv6Address(high: header.word(at: 16), low: header.word(at: 24)),
                port: UInt16(header.number(at: 48)))
        }
    }

    /// Checks type, length and value of each extension, and a checksum if present (PROXY protocol
    /// §2.2.3).
    private static func areValid(_ header: Span<UInt8>, from start: Int) -> Bool {
        var position = start
        var checksum: Int?
        while position < header.count {
            guard header.count - position >= 3 else { return false }
            let (type, length) = (header[position], header.number(at: position + 1))
            position += 3
            guard length <= header.count - position else { return false }
            if type == 0x03 {
                guard length == 4, checksum == nil else { return false }
                checksum = position
            }
            position += length
        }
        guard let checksum else { return true }
        var crc = CRC32C()
        crc.update(header.extracting(..<checksum))
        // The checksum field itself counts as zeros.
        crc.update([0, 0, 0, 0].span)
        crc.update(header.extracting((checksum + 4)...))
        let expected = header.number(at: checksum) << 16 | header.number(at: checksum + 2)
        return Int(crc.value) == expected
    }
}

extension Span<UInt8> {
    /// Two bytes, big-endian.
    fileprivate func number(at position: Int) -> Int {
        Int(self[position]) << 8 | Int(self[position + 1])
    }

    /// Eight bytes, big-endian.
    fileprivate func word(at position: Int) -> UInt64 {
        (position..<position + 8).reduce(0) { word, position in word << 8 | UInt64(self[position]) }
    }
}
