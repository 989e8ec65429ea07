/// The header fields of a response, kept as the octets that go on the wire.
///
/// Framing and connection fields (`Content-Length`, `Transfer-Encoding`, `Connection`, `Date`,
/// `X-Request-Id`, `X-Content-Type-Options`) are written by the serialiser and not added here.
public struct ResponseFields: Sendable {
    /// `name: value CRLF`, repeated.
    public private(set) var octets: [UInt8] = []
    /// False once a value was added that no header may carry; the response then becomes a 500 (H32).
    public private(set) var isValid = true

    /// No fields.
    public init() {}

    /// The fields of an answer given before, as ``octets`` said them then.
    package init(octets: [UInt8]) { self.octets = octets }

    /// Appends a field line.
    ///
    /// - Parameter value: Visible ASCII, blanks, tabs and octets above 0x7F; a control character
    ///   makes the whole response invalid, so that CR and LF never reach the wire (H32).
    public mutating func add(_ name: FieldName, _ value: String) {
        let text = value.utf8
        let span = text.span
        for place in span.indices {
            let octet = span[place]
            if octet < 0x20 && octet != 0x09 || octet == 0x7F { isValid = false }
        }
        add(name) { octets in octets.append(contentsOf: text) }
    }

    /// Appends a field line whose value is written in place; it must be visible ASCII and blanks.
    mutating func add(_ name: FieldName, _ write: (inout [UInt8]) -> Void) {
        // A handful of fields, without growing for each.
        if octets.isEmpty { octets.reserveCapacity(256) }
        unsafe octets.append(
            contentsOf: UnsafeBufferPointer(
                start: name.text.utf8Start, count: name.text.utf8CodeUnitCount))
        octets.append(0x3A)
        octets.append(0x20)
        write(&octets)
        octets.append(0x0D)
        octets.append(0x0A)
    }

    /// Gives every field line of a name another value.
    mutating func replace(_ name: FieldName, _ transform: (String) -> String) {
        let name = Array("\(name): ".utf8)
        octets = octets.split(separator: 0x0A).flatMap { line -> [UInt8] in
            guard line.starts(with: name) else { return line + [0x0A] }
            let value = line.dropFirst(name.count).dropLast()
            let other = transform(String(decoding: value, as: UTF8.self))
            return name + Array(other.utf8) + [0x0D, 0x0A]
        }
    }

    /// The fields as name and value, for tests.
    public var all: [(name: String, value: String)] {
        octets.split(separator: 0x0A).map { line in
            let line = line.last == 0x0D ? line.dropLast() : line
            let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
            return (
                String(decoding: line[..<colon], as: UTF8.self),
                String(decoding: line[colon...].dropFirst(2), as: UTF8.self)
            )
        }
    }

    /// The value of the first field of that name, compared without case; for tests.
    public subscript(name: FieldName) -> String? {
        all.first { field in field.name.lowercased() == name.description.lowercased() }?.value
    }
}
