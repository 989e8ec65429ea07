/// Base 64 of RFC 4648, standard (§4) and for URLs (§5).
enum Base64 {
    private static let standard = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let forURLs = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Standard alphabet, padded.
    static func encode(_ bytes: [UInt8]) -> String {
        let text = encode(bytes, standard)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    /// Alphabet for URLs, without padding.
    static func encodeForURL(_ bytes: [UInt8]) -> String { encode(bytes, forURLs) }

    /// Reads the standard alphabet, padded; `nil` for anything else.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard text.utf8.count % 4 == 0, padding <= 2 else { return nil }
        return decode(text.utf8.dropLast(padding), standard)
    }

    /// Reads the alphabet for URLs without padding; `nil` for anything else.
    static func decodeForURL(_ text: some StringProtocol) -> [UInt8]? { decode(text.utf8, forURLs) }

    private static func encode(_ bytes: [UInt8], _ alphabet: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits = 0
        var count = 0
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xFFFF
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[bits >> count & 63])
            }
        }
        if count > 0 { text.append(alphabet[bits << (6 - count) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(_ text: some Sequence<UInt8>, _ alphabet: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for character in text {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        // One text for one value: left-over bits are zero and never a whole character.
        return count < 6 && bits & (1 << count - 1) == 0 ? bytes : nil
    }
}
