/// The text form of IPv6 addresses (RFC 4291 §2.2, RFC 3986 §3.2.2), without brackets and zones.
package enum IPv6Text {
    /// Up to eight groups of 1–4 hex digits, one `::`, and possibly an IPv4 address at the end;
    /// `nil` for anything else.
    package static func address(_ text: some Collection<UInt8>) -> IPv6Address? {
        guard (2...45).contains(text.count) else { return nil }
        guard let halves = halves(of: Array(text)) else { return nil }
        var parts: [[UInt16]] = []
        for (index, half) in halves.enumerated() {
            guard let groups = groups(half, isLast: index == halves.count - 1) else { return nil }
            parts.append(groups)
        }
        let count = parts.reduce(0) { sum, groups in sum + groups.count }
        // `::` stands for one group at least.
        guard parts.count == 2 ? count <= 7 : count == 8 else { return nil }
        let gap = [UInt16](repeating: 0, count: 8 - count)
        let groups = parts.count == 2 ? parts[0] + gap + parts[1] : parts[0]
        let word = { (groups: ArraySlice<UInt16>) in
            groups.reduce(UInt64(0)) { word, group in word << 16 | UInt64(group) }
        }
        return IPv6Address(high: word(groups[..<4]), low: word(groups[4...]))
    }

    /// The text around `::`: one part without it, two with it, `nil` when it stands twice.
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
        for (place, piece) in pieces.enumerated() {
            if isLast, place == pieces.count - 1, piece.contains(UInt8(ascii: ".")) {
                guard let bits = IPv4Text.address(piece) else { return nil }
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                guard (1...4).contains(piece.count) else { return nil }
                var group: UInt16 = 0
                for octet in piece {
                    guard let digit = octet.hexDigitValue else { return nil }
                    group = group << 4 | UInt16(digit)
                }
                groups.append(group)
            }
        }
        return groups
    }
}
