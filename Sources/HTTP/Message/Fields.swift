/// The header fields of a request, in the order in which they came (H28).
///
/// Names and values are ranges of one copy of the head, so reading a field costs nothing until its
/// text is asked for. Values are octets; ``subscript(_:)`` shows each octet as one scalar
/// (ISO 8859-1), so that nothing is lost and nothing invented (H26).
public struct Fields: Sendable {
    /// Where one field stands in the head.
    struct Line: Sendable {
        var nameStart: UInt32
        var nameCount: UInt32
        var valueStart: UInt32
        var valueCount: UInt32

        var name: Range<Int> { Int(nameStart)..<Int(nameStart + nameCount) }
        var value: Range<Int> { Int(valueStart)..<Int(valueStart + valueCount) }
    }

    let octets: [UInt8]
    let lines: [Line]

    init(octets: [UInt8], lines: [Line]) {
        self.octets = octets
        self.lines = lines
    }

    /// How many field lines there are.
    public var count: Int { lines.count }

    /// The value of the first line of that name, or `nil`.
    public subscript(name: FieldName) -> String? {
        for line in lines where isNamed(name, line) { return text(line) }
        return nil
    }

    /// The values of all lines of that name, in order.
    public func values(_ name: FieldName) -> [String] {
        lines.filter { line in isNamed(name, line) }.map(text)
    }

    /// All lines of that name as one list, joined by `, ` (H28); `nil` when there is none.
    public func joined(_ name: FieldName) -> String? {
        guard occurrences(of: name) > 1 else { return self[name] }
        return values(name).joined(separator: ", ")
    }

    /// Whether there is a line of that name.
    public func contains(_ name: FieldName) -> Bool {
        lines.contains { line in isNamed(name, line) }
    }

    /// How many lines of that name there are; a singleton field has at most one.
    public func occurrences(of name: FieldName) -> Int {
        lines.count { line in isNamed(name, line) }
    }

    /// All fields as name and value, for echoing them.
    public var all: [(name: String, value: String)] {
        lines.map { line in
            (text(line.name), text(line))
        }
    }

    /// The octets of the first line of that name, for consumers that validate them (H26).
    public func octets(_ name: FieldName) -> ArraySlice<UInt8>? {
        for line in lines where isNamed(name, line) {
            return octets[line.value]
        }
        return nil
    }

    private func isNamed(_ name: FieldName, _ line: Line) -> Bool {
        octets.span.matches(name, in: line.name)
    }

    private func text(_ line: Line) -> String { text(line.value) }

    private func text(_ range: Range<Int>) -> String {
        let octets = octets[range]
        if octets.allSatisfy({ octet in octet < 0x80 }) {
            return String(decoding: octets, as: UTF8.self)
        }
        return String(String.UnicodeScalarView(octets.map { octet in Unicode.Scalar(octet) }))
    }
}

extension Fields {
    /// Fields made in code, for tests and for services driven without a socket.
    public init(_ fields: [(name: String, value: String)]) {
        var octets: [UInt8] = []
        var lines: [Line] = []
        for field in fields {
            let name = Array(field.name.utf8)
            let value = Array(field.value.utf8)
            lines.append(
                Line(
                    nameStart: UInt32(octets.count), nameCount: UInt32(name.count),
                    valueStart: UInt32(octets.count + name.count), valueCount: UInt32(value.count)))
            octets += name + value
        }
        self.init(octets: octets, lines: lines)
    }
}
