/// Why a text is not the JSON we accept, and where.
public struct JSONError: Error, Hashable, Sendable {
    /// The byte, counted from zero, at which reading stopped.
    public let offset: Int

    /// What is wrong there.
    public let reason: Reason

    /// Everything a reader can object to.
    public enum Reason: Hashable, Sendable {
        /// The document holds more bytes than the limit.
        case tooLarge(limit: Int)
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// The text ends inside a value, or holds none.
        case unexpectedEnd
        /// A byte that cannot stand here.
        case unexpectedByte(UInt8)
        /// More text after the one value of a document.
        case trailingBytes
        /// A byte order mark, which RFC 8259 §8.1 forbids to send.
        case byteOrderMark
        /// A control character inside a string, which has to be escaped (RFC 8259 §7).
        case controlCharacter
        /// A backslash followed by something that is no escape (RFC 8259 §7).
        case invalidEscape
        /// Half of a surrogate pair: it names no character (RFC 8259 §8.2).
        case loneSurrogate
        /// Bytes that are not UTF-8 (Unicode 15, table 3-7).
        case invalidUTF8
        /// A number outside the grammar of RFC 8259 §6, for example `01` or `1.`.
        case invalidNumber
        /// A number with more digits than the limit.
        case numberTooLong(limit: Int)
        /// A name that stands in its object already (RFC 8259 §4 leaves the meaning open, so we refuse).
        case duplicateName
    }
}

extension JSONError: CustomStringConvertible {
    /// One line for a person, for example `byte 12: a name stands twice in its object`.
    public var description: String { "byte \(offset): \(reason)" }
}

extension JSONError.Reason: CustomStringConvertible {
    /// What is wrong, as part of a sentence.
    public var description: String {
        switch self {
        case .tooLarge(let limit): "the document is larger than \(limit) bytes"
        case .tooDeep(let limit): "values are nested deeper than \(limit) levels"
        case .unexpectedEnd: "the document ends too early"
        case .unexpectedByte(let byte): "unexpected \(Self.name(of: byte))"
        case .trailingBytes: "more text after the end of the document"
        case .byteOrderMark: "a byte order mark is not allowed"
        case .controlCharacter: "a control character in a string has to be escaped"
        case .invalidEscape: "a backslash begins no known escape"
        case .loneSurrogate: "half of a surrogate pair stands alone"
        case .invalidUTF8: "the text is not UTF-8"
        case .invalidNumber: "a number is not written as JSON writes it"
        case .numberTooLong(let limit): "a number is longer than \(limit) bytes"
        case .duplicateName: "a name stands twice in its object"
        }
    }

    private static func name(of byte: UInt8) -> String {
        (0x21...0x7E).contains(byte)
            ? "'\(Character(Unicode.Scalar(byte)))'" : "byte 0x\(String(byte, radix: 16))"
    }
}
