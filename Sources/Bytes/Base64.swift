/// Encoders and decoders of base64, standard (RFC 4648 §4) and URL-safe (RFC 4648 §5).
package enum Base64 {
    private static let standard = Base64Alphabet("+/")
    private static let forURLs = Base64Alphabet("-_")

    /// Encodes in the standard alphabet with padding, as ASCII bytes.
    package static func encodeToUTF8(_ bytes: [UInt8]) -> [UInt8] {
        var text = encode(bytes, standard)
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }

    /// Encodes in the standard alphabet with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: encodeToUTF8(bytes), as: UTF8.self)
    }

    /// Encodes in the URL-safe alphabet without padding.
    package static func encodeForURL(_ bytes: [UInt8]) -> String {
        String(decoding: encode(bytes, forURLs), as: UTF8.self)
    }

    /// Decodes the standard alphabet with padding; `nil` for anything else.
    ///
    /// Every value has exactly one accepted text: unused bits must be zero (RFC 4648 §3.5).
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count % 4 == 0 else { return nil }
        return decode(text, standard, padding: 0...2)?.onlyValue
    }

    /// Decodes the URL-safe alphabet without padding; `nil` for anything else. Unused bits must be
    /// zero, as in ``decode(_:)``.
    package static func decodeForURL(_ text: some StringProtocol) -> [UInt8]? {
        decode(text.utf8, forURLs, padding: 0...0)?.onlyValue
    }

    /// Decodes the standard alphabet as mail encoders write it (RFC 2045 §6.8): line breaks are
    /// skipped and unused bits ignored; `nil` for any other byte outside the alphabet.
    ///
    /// Ruby's default encoder breaks lines every 60 characters.
    package static func decodeMIME(_ text: some Collection<UInt8>) -> [UInt8]? {
        let text = text.filter { byte in byte != 0x0D && byte != 0x0A }
        guard text.count % 4 == 0 else { return nil }
        return decode(text, standard, padding: 0...2)?.bytes
    }

    private static func encode(_ bytes: [UInt8], _ alphabet: Base64Alphabet) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet.digits[Int(bits >> count & 63)])
            }
        }
        if count > 0 { text.append(alphabet.digits[Int(bits << (6 - count) & 63)]) }
        return text
    }

    private static func decode(
        _ text: some Collection<UInt8>, _ alphabet: Base64Alphabet, padding: ClosedRange<Int>
    ) -> Decoded? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count: UInt32 = 0
        var equals = 0
        for character in text {
            if character == UInt8(ascii: "=") {
                equals += 1
                continue
            }
            let value = alphabet.values[Int(character)]
            guard value != Base64Alphabet.invalid, equals == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        // Six remaining bits are a trailing character that encodes no byte.
        guard count < 6, padding.contains(equals) else { return nil }
        return Decoded(bytes: bytes, hasLeftOverBits: bits & (1 << count - 1) != 0)
    }

    private struct Decoded {
        let bytes: [UInt8]
        let hasLeftOverBits: Bool

        var onlyValue: [UInt8]? { hasLeftOverBits ? nil : bytes }
    }
}

/// A base64 alphabet: 64 characters and the value of each.
struct Base64Alphabet: Sendable {
    /// Marks a byte outside the alphabet in ``values``.
    static let invalid: UInt8 = 255

    let digits: [UInt8]
    /// By byte: 0…63 for a character of the alphabet, ``invalid`` for any other.
    let values: [UInt8]

    /// Makes an alphabet of A–Z, a–z, 0–9 and two more characters.
    init(_ lastTwo: String) {
        digits = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastTwo).utf8)
        var values = [UInt8](repeating: Self.invalid, count: 256)
        for (value, character) in digits.enumerated() { values[Int(character)] = UInt8(value) }
        self.values = values
    }
}
