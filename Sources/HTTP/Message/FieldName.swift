/// The name of a header field, written in code: `request.fields["Content-Range"]`.
///
/// Names from the wire are never turned into this type; they stay octets and are compared with it
/// by folding ASCII letters only (H1, H27).
public struct FieldName: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let text: StaticString

    /// Takes a literal of token characters (RFC 9110 §5.1).
    public init(stringLiteral text: StaticString) {
        self.text = text
    }

    /// The name as it was written.
    public var description: String { text.description }
}

extension UInt8 {
    /// The octet with `A`–`Z` folded to `a`–`z`; every other octet as it is (H1).
    var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
