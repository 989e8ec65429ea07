/// The host of a URL: an address, or a name to resolve (RFC 3986 §3.2.2).
public enum HostText: Equatable, Sendable {
    case address(PeerAddress)
    case name(String)

    /// Parses a host as it is written in a URL, an IPv6 address in brackets.
    ///
    /// - Returns: `nil` for anything else. A name whose last label is a number is rejected: some
    ///   parsers read `127.1` or `0x7f000001` as an address.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        if bytes.first == UInt8(ascii: "[") {
            guard bytes.last == UInt8(ascii: "]"),
                let address = IPv6Text.address(bytes.dropFirst().dropLast())
            else { return nil }
            self = .address(PeerAddress(address, port: 0))
        } else if let bits = IPv4Text.address(bytes) {
            self = .address(.ipv4(bits, port: 0))
        } else if Self.isName(bytes) {
            self = .name(text.lowercased())
        } else {
            return nil
        }
    }

    private static func isName(_ bytes: [UInt8]) -> Bool {
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // A final dot is allowed; it names the DNS root.
        let named = labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
        guard bytes.count <= 253, let last = named.last else { return false }
        return named.allSatisfy(isLabel) && !isNumber(last)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        (1...63).contains(label.count)
            && label.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        let isDecimal = label.allSatisfy { byte in (0x30...0x39).contains(byte) }
        return isDecimal || label.starts(with: Array("0x".utf8))
            || label.starts(with: Array("0X".utf8))
    }
}

/// Parses the text form of IPv4 addresses: four decimal numbers (RFC 3986 §3.2.2, `IPv4address`).
package enum IPv4Text {
    /// The four bytes, most significant first; `nil` for anything else, such as a leading zero,
    /// which some parsers read as octal.
    package static func address(_ text: some Collection<UInt8>) -> UInt32? {
        let numbers = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard numbers.count == 4 else { return nil }
        var bits: UInt32 = 0
        for digits in numbers {
            guard
                (1...3).contains(digits.count), digits.count == 1 || digits.first != 0x30,
                let number = Int64(decimal: digits), number <= 255
            else { return nil }
            bits = bits << 8 | UInt32(number)
        }
        return bits
    }
}

/// Parses the text form of IPv6 addresses (RFC 4291 §2.2, RFC 3986 §3.2.2), without brackets and
/// zones.
package enum IPv6Text {
    /// Parses up to eight groups of 1–4 hex digits, at most one `::`, and possibly an IPv4 address
    /// at the end; `nil` for anything else.
    package static func address(_ text: some Collection<UInt8>) -> IPv6Address? {
        guard (2...45).contains(text.count) else { return nil }
        guard let halves = halves(of: Array(text)) else { return nil }
        var parts: [[UInt16]] = []
        for (index, half) in halves.enumerated() {
            guard let groups = groups(half, isLast: index == halves.count - 1) else { return nil }
            parts.append(groups)
        }
        let count = parts.reduce(0) { sum, groups in sum + groups.count }
        // `::` replaces at least one group.
        guard parts.count == 2 ? count <= 7 : count == 8 else { return nil }
        let gap = [UInt16](repeating: 0, count: 8 - count)
        let groups = parts.count == 2 ? parts[0] + gap + parts[1] : parts[0]
        let word = { (groups: ArraySlice<UInt16>) in
            groups.reduce(UInt64(0)) { word, group in word << 16 | UInt64(group) }
        }
        return IPv6Address(high: word(groups[..<4]), low: word(groups[4...]))
    }

    /// The text around `::`: one part without it, two with it, `nil` when it occurs twice.
    private static func halves(of text: [UInt8]) -> [ArraySlice<UInt8>]? {
        let colon = UInt8(ascii: ":")
        let gaps = text.indices.dropLast().filter { index in
            text[index] == colon && text[index + 1] == colon
        }
        guard gaps.count <= 1 else { return nil }
        guard let gap = gaps.first else { return [text[...]] }
        return [text[..<gap], text[(gap + 2)...]]
    }

    private static func groups(_ half: ArraySlice<UInt8>, isLast: Bool) -> [UInt16]? {
        guard !half.isEmpty else { return [] }
        let pieces = half.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, piece) in pieces.enumerated() {
            if isLast, index == pieces.count - 1, piece.contains(UInt8(ascii: ".")) {
                guard let bits = IPv4Text.address(piece) else { return nil }
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                guard (1...4).contains(piece.count) else { return nil }
                var group: UInt16 = 0
                for byte in piece {
                    guard let digit = byte.hexDigitValue else { return nil }
                    group = group << 4 | UInt16(digit)
                }
                groups.append(group)
            }
        }
        return groups
    }
}
