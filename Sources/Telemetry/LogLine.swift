internal import Bytes

/// A log line that is being written: a JSON object in UTF-8 and a line feed.
///
/// It stays one line and one object whatever its values contain (H207).
public struct LogLine: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// Creates a line with its time and level.
    ///
    /// - Parameters:
    ///   - milliseconds: Since 1970 UTC.
    ///   - capacity: The expected length in bytes.
    public init(at milliseconds: Int64, level: StaticString, capacity: Int = 384) {
        bytes.reserveCapacity(capacity)
        bytes.append(atMost: 64 + level.utf8CodeUnitCount) { line in
            line.append("{\"time\":\"")
            ISO8601.append(milliseconds, to: &line)
            line.append("\",\"level\":\"")
            line.append(level)
            line.append("\"")
        }
    }

    /// Adds a text, escaped and cut to 1 KiB.
    public mutating func text(_ name: StaticString, _ value: String) {
        let text = value.utf8
        let bytes = text.span
        guard LogEscape.isPlain(bytes) else {
            begin(name)
            return quote(text)
        }
        add(name, bytes.count + 2) { line in
            line.append("\"")
            line.append(bytes)
            line.append("\"")
        }
    }

    /// Adds a text whose name is not a literal.
    public mutating func text(name: String, _ value: String) {
        append(",")
        quote(name.utf8)
        append(":")
        quote(value.utf8)
    }

    /// Adds bytes from a client, which need not be UTF-8, escaped and cut to 1 KiB.
    public mutating func text(_ name: StaticString, bytes value: [UInt8]) {
        begin(name)
        quote(value)
    }

    /// Adds a text that needs no escaping, such as a generated id, without a copy.
    ///
    /// - Parameter write: Appends printable ASCII without quotes and backslashes.
    public mutating func plain(_ name: StaticString, _ write: (inout [UInt8]) -> Void) {
        add(name, 1) { line in line.append("\"") }
        write(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds an integer.
    public mutating func number(_ name: StaticString, _ value: Int64) {
        add(name, 20) { line in line.append(decimal: value) }
    }

    /// Ends the object and the line; nothing may be added afterwards.
    public mutating func end() { append("}\n") }

    private mutating func begin(_ name: StaticString) { add(name, 0) { _ in } }

    /// Adds a value of at most `size` bytes.
    @inline(__always)
    private mutating func add(
        _ name: StaticString, _ size: Int, _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        bytes.append(atMost: name.utf8CodeUnitCount + size + 4) { line in
            line.append(",\"")
            line.append(name)
            line.append("\":")
            write(&line)
        }
    }

    private mutating func quote(_ value: some Collection<UInt8>) {
        append("\"")
        LogEscape.append(value, to: &bytes)
        append("\"")
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(atMost: text.utf8CodeUnitCount) { line in line.append(text) }
    }
}

/// Escapes bytes for the inside of a JSON string (H207).
///
/// Escaped are quotes and backslashes, the control characters of ASCII and Latin-1 (U+0080–U+009F
/// can start a terminal's escape sequences), DEL, and the line separators U+2028 and U+2029;
/// invalid UTF-8 becomes U+FFFD.
enum LogEscape {
    /// The most bytes of a value, including escapes.
    static let limit = 1024

    /// Appends the escaped text; one that is too long is cut between characters and marked with
    /// `…`.
    static func append(_ text: some Collection<UInt8>, to line: inout [UInt8]) {
        // The mark takes three bytes.
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

    /// Whether a text is short and needs no escaping, so that it can be copied; most values are.
    static func isPlain(_ text: Span<UInt8>) -> Bool {
        guard text.count <= limit - 3 else { return false }
        var index = 0
        while index + 8 <= text.count {
            // Eight bytes from `index` on are in bounds.
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

    /// Whether a byte is ASCII that needs no escaping.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
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
    /// Whether all eight bytes are ASCII that needs no escaping.
    fileprivate var isPlain: Bool {
        let tops: UInt64 = 0x8080_8080_8080_8080
        // Below 0x20 or above 0x7E: the sum carries into the top bit, or the difference borrows
        // from it.
        let controls = ~((self & ~tops) &+ 0x6060_6060_6060_6060)
        let high = self | ((self & ~tops) &+ 0x0101_0101_0101_0101)
        return (controls | high | zeros(0x2222_2222_2222_2222) | zeros(0x5C5C_5C5C_5C5C_5C5C))
            & tops
            == 0
    }

    /// The top bit of each byte that equals the repeated byte of `word`, which is below 0x80.
    private func zeros(_ word: UInt64) -> UInt64 {
        let difference = self ^ word
        return ~(((difference & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7F7F_7F7F_7F7F_7F7F) | difference)
    }
}
