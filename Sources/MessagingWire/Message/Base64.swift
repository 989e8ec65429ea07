/// Base64 as bodies of parts carry it (RFC 4648 §4).
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// 0…63 for a character of the alphabet, 255 for any other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                text.append(
                    place <= group.count
                        ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return text
    }

    /// The bytes; `nil` when the text is not base64, padding included.
    ///
    /// Line ends are skipped, since the usual Ruby encoder writes one every 60 characters
    /// (RFC 2045 §6.8); every other foreign byte is a mistake.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var digits = 0
        var padding = 0
        for character in text where character != 0x0D && character != 0x0A {
            if character == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            let value = values[Int(character)]
            guard value != 255, padding == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            digits += 1
            if digits % 4 != 1 {
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - 2 * ((digits - 1) % 4))))
            }
        }
        guard (digits + padding) % 4 == 0, padding <= 2, digits % 4 != 1 else { return nil }
        return bytes
    }
}
