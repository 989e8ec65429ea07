internal import HTTP

/// Single items of RFC 9651, as the IETF protocol sends them (§7.2).
///
/// Parameters are allowed and ignored. What does not parse, or comes twice, counts as absent.
extension Fields {
    /// An integer of at most 15 digits, with its sign.
    func structuredInteger(_ name: FieldName) -> Int64? {
        guard let item = structuredItem(name) else { return nil }
        let digits = item.hasPrefix("-") ? item.dropFirst() : item[...]
        guard (1...15).contains(digits.utf8.count), let number = Int64(decimal: digits.utf8) else {
            return nil
        }
        return item.hasPrefix("-") ? -number : number
    }

    /// `?0` or `?1`.
    func structuredBoolean(_ name: FieldName) -> Bool? {
        switch structuredItem(name) {
        case "?0": false
        case "?1": true
        default: nil
        }
    }

    /// The bare item, without its parameters; `nil` unless the field comes once.
    private func structuredItem(_ name: FieldName) -> String? {
        guard occurrences(of: name) == 1, let value = self[name] else { return nil }
        let parts = value.trimmed.split(separator: ";", omittingEmptySubsequences: false)
        guard let item = parts.first, parts.dropFirst().allSatisfy(Self.isParameter) else {
            return nil
        }
        return String(item)
    }

    /// `key` or `key=value`; blanks stand in front of it only. What the value is, nobody asks.
    private static func isParameter(_ text: Substring) -> Bool {
        let key = text.drop { $0 == " " }.prefix { $0 != "=" }
        guard let first = key.utf8.first, first == 0x2A || (0x61...0x7A).contains(first) else {
            return false
        }
        return key.utf8.allSatisfy { octet in
            switch octet {
            case 0x61...0x7A, 0x30...0x39, 0x5F, 0x2D, 0x2E, 0x2A: true
            default: false
            }
        }
    }
}
