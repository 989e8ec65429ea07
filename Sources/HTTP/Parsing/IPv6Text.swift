/// The text form of IPv6 addresses, as far as a Host field needs it (RFC 3986 §3.2.2).
enum IPv6Text {
    /// Whether these octets are an address: up to eight groups of 1–4 hex digits, one `::`, and
    /// possibly an IPv4 address at the end.
    static func isAddress(_ text: [UInt8]) -> Bool {
        guard text.count >= 2, text.count <= 45 else { return false }
        let halves = halves(of: text)
        guard let halves else { return false }
        var groups = 0
        for (index, half) in halves.enumerated() where !half.isEmpty {
            let pieces = half.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            for (place, piece) in pieces.enumerated() {
                let isLast = index == halves.count - 1 && place == pieces.count - 1
                if isLast, piece.contains(UInt8(ascii: ".")) {
                    guard isIPv4(piece) else { return false }
                    groups += 2
                } else {
                    guard
                        (1...4).contains(piece.count),
                        piece.allSatisfy({ octet in octet.hexDigitValue != nil })
                    else { return false }
                    groups += 1
                }
            }
        }
        return halves.count == 2 ? groups <= 7 : groups == 8
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

    private static func isIPv4(_ octets: ArraySlice<UInt8>) -> Bool {
        let numbers = octets.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4
            && numbers.allSatisfy { digits in
                guard (1...3).contains(digits.count), let number = Int64(decimal: digits) else {
                    return false
                }
                return number <= 255
            }
    }
}
