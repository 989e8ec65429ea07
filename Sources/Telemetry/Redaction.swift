/// Removes secrets from texts before they are logged (H208).
///
/// This is a second line of defence: callers do not log secrets. Request lines never need it,
/// because they hold route templates instead of paths.
public enum Redaction {
    /// Metadata whose values are never shown.
    private static let secretNames: Set<String> = [
        "authorization", "cookie", "nonce", "password", "secret", "set-cookie", "signature",
        "token",
    ]

    /// The text shown instead of a hidden value.
    public static let hidden = "[hidden]"

    /// Whether values of this name are never shown.
    public static func hides(_ name: String) -> Bool { secretNames.contains(name.lowercased()) }

    /// The text without credentials and query strings, and with the tokens of upload and download
    /// URLs cut to six characters.
    public static func filtered(_ text: some StringProtocol) -> String {
        String(decoding: filtered(bytes: Array(text.utf8)), as: UTF8.self)
    }

    /// The same for bytes that need not be UTF-8, such as the start of a refused request.
    public static func filtered(bytes: [UInt8]) -> [UInt8] {
        var clean: [UInt8] = []
        clean.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.first {
            if let scheme = schemes.first(where: { scheme in begins(rest, with: scheme) }) {
                clean += rest.prefix(scheme.count) + mark
                rest = rest.dropFirst(scheme.count).drop(while: isOfWord)
            } else if let path = paths.first(where: { path in begins(rest, with: path) }) {
                let token = rest.dropFirst(path.count).prefix(while: isOfToken)
                clean += rest.prefix(path.count) + token.prefix(6)
                if token.count > 6 { clean += mark }
                rest = rest[token.endIndex...]
            } else if byte == UInt8(ascii: "?"), rest.dropFirst().first.map(isOfWord) == true {
                clean += [byte] + mark
                rest = rest.drop(while: isOfWord)
            } else {
                clean.append(byte)
                rest = rest.dropFirst()
            }
        }
        return clean
    }

    private static let schemes = ["bearer ", "basic "].map { scheme in Array(scheme.utf8) }
    private static let paths = ["/uploads/", "/download/"].map { path in Array(path.utf8) }
    private static let mark = Array("…".utf8)

    private static func begins(_ text: ArraySlice<UInt8>, with word: [UInt8]) -> Bool {
        text.count >= word.count
            && zip(text, word).allSatisfy { byte, letter in
                byte == letter || (0x41...0x5A).contains(byte) && byte | 0x20 == letter
            }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != UInt8(ascii: "\"")
    }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
