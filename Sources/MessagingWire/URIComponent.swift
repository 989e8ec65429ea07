/// Text inside one component of a URI, as JavaScript's `encodeURIComponent` writes it.
///
/// Client libraries compare ids as text, so the output must equal that of the function (platform-api §1.7). Input may
/// have any percent-encoding: it is decoded before it is compared.
public enum URIComponent {
    /// Percent-encodes everything but `A–Z a–z 0–9 - _ . ! ~ * ' ( )`.
    public static func encoded(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain) { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 2)
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes percent-encoding once; `nil` if a `%` does not start an escape or the bytes are not UTF-8.
    public static func decoded(_ text: some StringProtocol) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: punctuation.contains(byte)
        }
    }

    private static let punctuation = Array("-_.!~*'()".utf8)

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension String {
    /// Concatenates pieces with one allocation.
    ///
    /// A response has hundreds of URLs and ids, and string interpolation reallocates as it grows.
    init(pieces: String...) {
        self.init()
        reserveCapacity(pieces.reduce(0) { sum, piece in sum + piece.utf8.count })
        for piece in pieces { append(piece) }
    }
}
