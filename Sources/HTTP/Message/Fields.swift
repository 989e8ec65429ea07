/// The name of a header field as a literal in code: `request.fields["Content-Range"]`.
///
/// Names that were received stay bytes; they are compared with this type ignoring the case of ASCII
/// letters only (H1, H27).
public struct FieldName: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let text: StaticString

    /// Makes a name of a literal of token characters (RFC 9110 §5.1).
    public init(stringLiteral text: StaticString) {
        self.text = text
    }

    /// The name as written in code.
    public var description: String { text.description }
}

extension UInt8 {
    /// The byte with `A`–`Z` folded to `a`–`z` (H1).
    var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

/// The header fields of a request, in the order received (H28).
///
/// Names and values are ranges of one copy of the head, so a field costs nothing until its text is
/// read. Values are bytes; ``subscript(_:)`` maps each byte to one scalar (ISO 8859-1), so that
/// nothing is lost (H26).
public struct Fields: Sendable {
    /// The position of a field line in the head.
    struct Line: Sendable {
        var nameStart: UInt32
        var nameCount: UInt32
        var valueStart: UInt32
        var valueCount: UInt32

        var name: Range<Int> { Int(nameStart)..<Int(nameStart + nameCount) }
        var value: Range<Int> { Int(valueStart)..<Int(valueStart + valueCount) }
    }

    let bytes: [UInt8]
    let lines: [Line]

    init(bytes: [UInt8], lines: [Line]) {
        self.bytes = bytes
        self.lines = lines
    }

    /// The number of field lines.
    public var count: Int { lines.count }

    /// The value of the first line of that name; `nil` when there is none.
    public subscript(name: FieldName) -> String? {
        for line in lines where isNamed(name, line) { return text(line) }
        return nil
    }

    /// The values of all lines of that name, in order.
    public func values(_ name: FieldName) -> [String] {
        lines.filter { line in isNamed(name, line) }.map(text)
    }

    /// All lines of that name as one list joined by `, ` (H28); `nil` when there is none.
    public func joined(_ name: FieldName) -> String? {
        guard occurrences(of: name) > 1 else { return self[name] }
        return values(name).joined(separator: ", ")
    }

    /// Whether there is a line of that name.
    public func contains(_ name: FieldName) -> Bool {
        lines.contains { line in isNamed(name, line) }
    }

    /// The number of lines of that name; valid singleton fields have at most one.
    public func occurrences(of name: FieldName) -> Int {
        lines.count { line in isNamed(name, line) }
    }

    /// All fields as name and value.
    public var all: [(name: String, value: String)] {
        lines.map { line in
            (text(line.name), text(line))
        }
    }

    /// The bytes of the first line of that name, for callers that validate them (H26).
    public func bytes(_ name: FieldName) -> ArraySlice<UInt8>? {
        for line in lines where isNamed(name, line) {
            return bytes[line.value]
        }
        return nil
    }

    private func isNamed(_ name: FieldName, _ line: Line) -> Bool {
        bytes.span.matches(name, in: line.name)
    }

    private func text(_ line: Line) -> String { text(line.value) }

    private func text(_ range: Range<Int>) -> String {
        let bytes = bytes[range]
        if bytes.allSatisfy({ byte in byte < 0x80 }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(String.UnicodeScalarView(bytes.map { byte in Unicode.Scalar(byte) }))
    }
}

extension Fields {
    /// Makes fields in code, for tests and for services called without a socket.
    public init(_ fields: [(name: String, value: String)]) {
        var bytes: [UInt8] = []
        var lines: [Line] = []
        for field in fields {
            let name = Array(field.name.utf8)
            let value = Array(field.value.utf8)
            lines.append(
                Line(
                    nameStart: UInt32(bytes.count), nameCount: UInt32(name.count),
                    valueStart: UInt32(bytes.count + name.count), valueCount: UInt32(value.count)))
            bytes += name + value
        }
        self.init(bytes: bytes, lines: lines)
    }
}
