internal import HTTP

extension Fields {
    /// The value of a header that may be sent at most once (§3.1).
    func single(_ name: FieldName) throws(UploadError) -> String? {
        guard occurrences(of: name) <= 1 else {
            throw .repeated(name)
        }
        return self[name]
    }

    /// An offset or a length: digits only, sent once (§0).
    func number(_ name: FieldName) throws(UploadError) -> Int64? {
        guard let text = try single(name) else { return nil }
        guard let number = Int64(decimal: text.utf8) else {
            throw .notDecimal(name.description)
        }
        return number
    }
}

extension UploadError {
    /// A header that may be sent once was repeated (§3.1).
    static func repeated(_ name: FieldName) -> UploadError {
        .invalid("\(name) must be sent at most once; remove the repeated header.")
    }

    /// The error for a value that is no offset or length (§0).
    static func notDecimal(_ name: String) -> UploadError {
        .invalid("\(name) must be a number of bytes: 1 to 19 digits, at most \(Int64.max).")
    }
}

/// Structured field items of RFC 9651, as the IETF protocol uses them (§7.2).
///
/// Parameters are allowed and ignored. A value that does not parse, or a header that is repeated, counts as absent.
extension Fields {
    /// An integer of at most 15 digits, with an optional sign.
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

    /// The bare item without its parameters; `nil` unless the header is sent once.
    private func structuredItem(_ name: FieldName) -> String? {
        guard occurrences(of: name) == 1, let value = self[name] else { return nil }
        let parts = value.trimmed.split(separator: ";", omittingEmptySubsequences: false)
        guard let item = parts.first, parts.dropFirst().allSatisfy(Self.isParameter) else {
            return nil
        }
        return String(item)
    }

    /// Whether the text is `key` or `key=value`, with spaces only in front; the value is not checked.
    private static func isParameter(_ text: Substring) -> Bool {
        let key = text.drop { $0 == " " }.prefix { $0 != "=" }
        guard let first = key.utf8.first, first == 0x2A || (0x61...0x7A).contains(first) else {
            return false
        }
        return key.utf8.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, 0x5F, 0x2D, 0x2E, 0x2A: true
            default: false
            }
        }
    }
}
