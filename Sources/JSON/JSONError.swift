/// The first error in a JSON text, with its position.
public struct JSONError: Error, Hashable, Sendable {
    /// The offset of the byte at which reading stopped, counted from zero.
    public let offset: Int

    /// The kind of error.
    public let reason: Reason

    /// The kinds of errors.
    public enum Reason: Hashable, Sendable {
        /// The document holds more bytes than the limit.
        case tooLarge(limit: Int)
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// The text ends inside a value, or is empty.
        case unexpectedEnd
        /// A byte that is not allowed here.
        case unexpectedByte(UInt8)
        /// More text after the value of the document.
        case trailingBytes
        /// A byte order mark, which RFC 8259 §8.1 forbids.
        case byteOrderMark
        /// An unescaped control character inside a string (RFC 8259 §7).
        case controlCharacter
        /// A backslash that begins no valid escape (RFC 8259 §7).
        case invalidEscape
        /// Half of a surrogate pair, which encodes no character (RFC 8259 §8.2).
        case loneSurrogate
        /// Bytes that are not UTF-8 (Unicode 15, table 3-7).
        case invalidUTF8
        /// A number outside the grammar of RFC 8259 §6, for example `01` or `1.`.
        case invalidNumber
        /// A number with more bytes than the limit.
        case numberTooLong(limit: Int)
        /// A name that its object already has; RFC 8259 §4 leaves the meaning open, so it is
        /// rejected.
        case duplicateName
    }
}

extension JSONError: CustomStringConvertible {
    /// Offset and reason in one line, such as `byte 12: a name occurs twice in its object`.
    public var description: String { "byte \(offset): \(reason)" }
}

extension JSONError.Reason: CustomStringConvertible {
    /// The reason as a clause without a full stop.
    public var description: String {
        switch self {
        case .tooLarge(let limit): "the document is larger than \(limit) bytes"
        case .tooDeep(let limit): "values are nested deeper than \(limit) levels"
        case .unexpectedEnd: "the document ends too early"
        case .unexpectedByte(let byte): "unexpected \(Self.name(of: byte))"
        case .trailingBytes: "more text after the end of the document"
        case .byteOrderMark: "a byte order mark is not allowed"
        case .controlCharacter: "a control character in a string must be escaped"
        case .invalidEscape: "a backslash is not followed by a known escape"
        case .loneSurrogate: "a surrogate is not part of a pair"
        case .invalidUTF8: "the text is not UTF-8"
        case .invalidNumber: "a number does not follow the JSON grammar"
        case .numberTooLong(let limit): "a number is longer than \(limit) bytes"
        case .duplicateName: "a name occurs twice in its object"
        }
    }

    private static func name(of byte: UInt8) -> String {
        (0x21...0x7E).contains(byte)
            ? "'\(Character(Unicode.Scalar(byte)))'" : "byte 0x\(String(byte, radix: 16))"
    }
}
