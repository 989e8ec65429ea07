internal import Bytes

/// The address of the other end of a connection, stored as numbers and formatted only when needed.
public enum PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// Four bytes, most significant first, and the port.
    case ipv4(UInt32, port: UInt16)
    case ipv6(IPv6Address, port: UInt16)
    /// A Unix socket.
    case local
    /// Unknown, as in tests without a socket.
    case unknown

    /// The address without its port; IPv6 as eight groups without `::`.
    public var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``description`` without making a string.
    public func append(to bytes: inout [UInt8]) {
        // The longest is an IPv6 address: eight groups of four digits.
        bytes.append(atMost: 39) { text in
            switch self {
            case .ipv4(let bits, _):
                text.append(decimal: UInt64(bits >> 24))
                for shift: UInt32 in [16, 8, 0] {
                    text.append(UInt8(ascii: "."))
                    text.append(decimal: UInt64(bits >> shift & 255))
                }
            case .ipv6(let address, _): address.append(to: &text)
            case .local: text.append("unix")
            case .unknown: text.append("unknown")
            }
        }
    }
}

extension PeerAddress {
    /// Parses a node as proxies write it (RFC 7239 §6): `192.0.2.43` or `[2001:db8::17]`,
    /// optionally with `:` and a port; `nil` for `unknown`, for obfuscated identifiers such as
    /// `_hidden`, and for anything else (H199).
    ///
    /// - Parameter isBracketed: Whether IPv6 addresses must be in brackets, as in `Forwarded`; in
    ///   `X-Forwarded-For` they mostly are not.
    init?(node text: ArraySlice<UInt8>, bracketed isBracketed: Bool) {
        if text.first == UInt8(ascii: "[") {
            guard
                let bracket = text.firstIndex(of: UInt8(ascii: "]")),
                let address = IPv6Text.address(text[(text.startIndex + 1)..<bracket]),
                let port = Self.port(text[(bracket + 1)...])
            else { return nil }
            self.init(address, port: port)
        } else if !isBracketed, let address = IPv6Text.address(text) {
            self.init(address, port: 0)
        } else {
            let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            guard
                let bits = IPv4Text.address(text[..<colon]), let port = Self.port(text[colon...])
            else { return nil }
            self = .ipv4(bits, port: port)
        }
    }

    /// An IPv6 address, or the IPv4 address that is mapped to it.
    package init(_ address: IPv6Address, port: UInt16) {
        if let bits = address.mappedIPv4 {
            self = .ipv4(bits, port: port)
        } else {
            self = .ipv6(address, port: port)
        }
    }

    /// The port after `:`; 0 for an empty text and for an obfuscated port (`:_http`), which is
    /// valid.
    private static func port(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard let colon = text.first else { return 0 }
        guard colon == UInt8(ascii: ":") else { return nil }
        let name = text.dropFirst()
        if name.first == UInt8(ascii: "_") {
            let isName = name.allSatisfy { byte in
                "._-0123456789".utf8.contains(byte)
                    || (0x61...0x7A).contains(byte.asciiLowercased)
            }
            return name.count > 1 && isName ? 0 : nil
        }
        guard name.count <= 5, let port = Int64(decimal: name) else { return nil }
        return UInt16(exactly: port)
    }
}

/// An IPv6 address: sixteen bytes, most significant first.
///
/// Two words instead of one `UInt128`, because Swift 6.3 miscompiles asynchronous calls whose
/// arguments are aligned to sixteen bytes, and addresses are passed with requests through many of
/// those.
public struct IPv6Address: Sendable, Hashable, CustomStringConvertible {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// Makes an address of its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// `::`, which as a listening address means all addresses of this machine.
    public static let any = IPv6Address(high: 0, low: 0)
    /// `::1`.
    public static let loopback = IPv6Address(high: 0, low: 1)

    /// The IPv4 address of an IPv4-mapped address (RFC 4291 §2.5.5.2), as dual-stack sockets report
    /// it; otherwise `nil`.
    public var mappedIPv4: UInt32? {
        high == 0 && low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: low) : nil
    }

    /// Eight groups of up to four digits, without `::`.
    public var description: String {
        let bytes = [UInt8](capacity: 39) { text in append(to: &text) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``description``, at most 39 bytes.
    func append(to text: inout OutputSpan<UInt8>) {
        for index in 0..<8 {
            if index > 0 { text.append(UInt8(ascii: ":")) }
            let half = index < 4 ? high : low
            let group = half >> UInt64(48 - index % 4 * 16) & 0xFFFF
            // Leading zeros are left out, except for the last digit.
            for shift: UInt64 in [12, 8, 4, 0] where shift == 0 || group >> shift > 0 {
                let digit = UInt8(truncatingIfNeeded: group >> shift & 15)
                text.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        }
    }
}
