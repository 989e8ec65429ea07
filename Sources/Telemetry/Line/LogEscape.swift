/// Makes any octets safe inside the quotes of a log line (H207).
///
/// Escaped are quotes and backslashes, the control characters of ASCII and of Latin-1 (U+0080–U+009F
/// hold a terminal's escape sequences in one character), DEL, and the line separators U+2028 and
/// U+2029; what is not UTF-8 becomes U+FFFD.
enum LogEscape {
    /// The most octets of one value, its escapes included.
    static let limit = 1024

    /// Appends the escaped text, cut between two characters and marked with `…` when it is too long.
    static func append(_ text: some Collection<UInt8>, to line: inout [UInt8]) {
        // The mark takes three octets.
        let end = line.count + limit - 3
        var decoder = UTF8.ForwardParser()
        var rest = text.makeIterator()
        while true {
            let start = line.count
            switch decoder.parseScalar(from: &rest) {
            case .emptyInput: return
            case .error: line.append(contentsOf: replacement)
            case .valid(let encoded): append(encoded, to: &line)
            }
            if line.count > end {
                line.removeSubrange(start...)
                line.append(contentsOf: mark)
                return
            }
        }
    }

    /// Whether a text is short and all of it stands for itself, as nearly every value does: then it may
    /// be copied.
    static func isPlain(_ text: Span<UInt8>) -> Bool {
        guard text.count <= limit - 3 else { return false }
        var index = 0
        while index + 8 <= text.count {
            let word = unsafe text.bytes.unsafeLoadUnaligned(
                fromByteOffset: index, as: UInt64.self)
            guard word.isPlain else { return false }
            index += 8
        }
        while index < text.count {
            guard isPlain(text[index]) else { return false }
            index += 1
        }
        return true
    }

    private static func append(_ encoded: UTF8.EncodedScalar, to line: inout [UInt8]) {
        let first = encoded[encoded.startIndex]
        if isPlain(first) {
            line.append(first)
            return
        }
        let scalar = UTF8.decode(encoded).value
        switch scalar {
        case 0x22, 0x5C: line.append(contentsOf: [0x5C, UInt8(scalar)])
        case 0x0A: line.append(contentsOf: [0x5C, UInt8(ascii: "n")])
        case 0x00..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: appendHex(scalar, to: &line)
        default: line.append(contentsOf: encoded)
        }
    }

    /// ASCII that stands for itself.
    private static func isPlain(_ octet: UInt8) -> Bool {
        octet >= 0x20 && octet < 0x7F && octet != 0x22 && octet != 0x5C
    }

    private static func appendHex(_ scalar: UInt32, to line: inout [UInt8]) {
        line.append(contentsOf: [0x5C, UInt8(ascii: "u")])
        for shift: UInt32 in [12, 8, 4, 0] { line.append(digits[Int(scalar >> shift & 15)]) }
    }

    private static let digits = Array("0123456789abcdef".utf8)
    private static let replacement = Array("\u{FFFD}".utf8)
    private static let mark = Array("…".utf8)
}

extension UInt64 {
    /// Whether eight octets are all ASCII that stands for itself.
    fileprivate var isPlain: Bool {
        let tops: UInt64 = 0x8080_8080_8080_8080
        // Below 0x20 or above 0x7E: the sum carries into the top bit, or the difference borrows from it.
        let controls = ~((self & ~tops) &+ 0x6060_6060_6060_6060)
        let high = self | ((self & ~tops) &+ 0x0101_0101_0101_0101)
        return (controls | high | zeros(0x2222_2222_2222_2222) | zeros(0x5C5C_5C5C_5C5C_5C5C))
            & tops
            == 0
    }

    /// The top bit of each octet that equals the one repeated in the word, all below 0x80.
    private func zeros(_ word: UInt64) -> UInt64 {
        let difference = self ^ word
        return ~(((difference & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7F7F_7F7F_7F7F_7F7F) | difference)
    }
}
