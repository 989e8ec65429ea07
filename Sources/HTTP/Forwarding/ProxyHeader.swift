import Bytes

/// What a proxy of connections writes before all else: the PROXY protocol, version 2 (PROXY protocol §2.2, H202).
///
/// Shown from its first byte each time, however much has come: it is at most ``maximumSize`` long,
/// and the first byte that cannot be part of one decides.
public enum ProxyHeader {
    /// What the bytes seen so far are.
    public enum Outcome: Sendable, Equatable {
        /// The beginning of a header.
        case incomplete
        /// A header of `count` bytes. `source` is the client; `nil` when the proxy speaks for itself
        /// (`LOCAL`) or does not know: then the addresses of the socket count.
        case complete(count: Int, source: PeerAddress?)
        /// No header: the connection is to be dropped without a word.
        case invalid
    }

    /// The longest header taken: the 16 bytes that all have, and 1024 of addresses and extensions.
    public static let maximumSize = fixedSize + 1024

    private static let fixedSize = 16
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]

    /// How long the header is that begins like this, as far as that can be told: at least so much is to
    /// be read before anything else.
    public static func size(_ bytes: Span<UInt8>) -> Int {
        bytes.count < fixedSize ? fixedSize : fixedSize + bytes.number(at: 14)
    }

    /// Reads a header from the beginning of a connection.
    public static func read(_ bytes: Span<UInt8>) -> Outcome {
        for place in 0..<min(bytes.count, signature.count)
        where bytes[place] != signature[place] {
            return .invalid
        }
        // Version 2 and one of two commands.
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
        // What follows `LOCAL` and an unspecified family is for nobody (PROXY protocol §2.2).
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

    /// Family and protocol of the client's connection; HTTP comes by streams only.
    private enum Family: UInt8 {
        case unspecified = 0x00
        case ipv4 = 0x11
        case ipv6 = 0x21
        case unix = 0x31

        /// Bytes of both addresses and ports.
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
        // A socket file on the proxy's machine is an address to nobody else.
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

    /// Walks over type, length and value up to the end; a checksum must be right (PROXY protocol §2.2.3).
    private static func areValid(_ header: Span<UInt8>, from start: Int) -> Bool {
        var place = start
        var checksum: Int?
        while place < header.count {
            guard header.count - place >= 3 else { return false }
            let (type, length) = (header[place], header.number(at: place + 1))
            place += 3
            guard length <= header.count - place else { return false }
            if type == 0x03 {
                guard length == 4, checksum == nil else { return false }
                checksum = place
            }
            place += length
        }
        guard let checksum else { return true }
        var crc = CRC32C()
        crc.update(header.extracting(..<checksum))
        // The checksum itself counts as zeros.
        crc.update([0, 0, 0, 0].span)
        crc.update(header.extracting((checksum + 4)...))
        let said = header.number(at: checksum) << 16 | header.number(at: checksum + 2)
        return Int(crc.value) == said
    }
}

extension Span<UInt8> {
    /// Two bytes, most significant first.
    fileprivate func number(at place: Int) -> Int { Int(self[place]) << 8 | Int(self[place + 1]) }

    /// Eight bytes, most significant first.
    fileprivate func word(at place: Int) -> UInt64 {
        (place..<place + 8).reduce(0) { word, place in word << 8 | UInt64(self[place]) }
    }
}
