/// The alphabet of RFC 4648 §5 without padding, for secrets people copy.
enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> count & 0x3F)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 0x3F)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
