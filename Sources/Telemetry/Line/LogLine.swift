internal import Octets

/// One line of the log while it is written: a JSON object in UTF-8 that ends with a line feed.
///
/// Whatever the values hold, the line stays one line and one object (H207).
public struct LogLine: Sendable {
    /// What has been written so far.
    public private(set) var octets: [UInt8] = []

    /// Begins a line with its time and level.
    ///
    /// - Parameters:
    ///   - milliseconds: Since 1970 UTC.
    ///   - capacity: A guess at the length, in octets.
    public init(at milliseconds: Int64, level: StaticString, capacity: Int = 384) {
        octets.reserveCapacity(capacity)
        octets.append(atMost: 64 + level.utf8CodeUnitCount) { line in
            line.append("{\"time\":\"")
            LogTime.append(milliseconds, to: &line)
            line.append("\",\"level\":\"")
            line.append(level)
            line.append("\"")
        }
    }

    /// Adds a text, escaped and cut to 1 KiB.
    public mutating func text(_ name: StaticString, _ value: String) {
        let text = value.utf8
        let octets = text.span
        guard LogEscape.isPlain(octets) else {
            begin(name)
            return quote(text)
        }
        add(name, octets.count + 2) { line in
            line.append("\"")
            line.append(octets)
            line.append("\"")
        }
    }

    /// Adds a text whose name is not known in advance.
    public mutating func text(name: String, _ value: String) {
        append(",")
        quote(name.utf8)
        append(":")
        quote(value.utf8)
    }

    /// Adds octets that came from a client, which need not be UTF-8; escaped and cut to 1 KiB.
    public mutating func text(_ name: StaticString, octets value: [UInt8]) {
        begin(name)
        quote(value)
    }

    /// Adds a text that needs no escaping, such as an id of our own making, without a copy.
    ///
    /// - Parameter write: Appends letters, digits and marks other than quotes and backslashes.
    public mutating func plain(_ name: StaticString, _ write: (inout [UInt8]) -> Void) {
        add(name, 1) { line in line.append("\"") }
        write(&octets)
        octets.append(UInt8(ascii: "\""))
    }

    /// Adds a whole number.
    public mutating func number(_ name: StaticString, _ value: Int64) {
        add(name, 20) { line in line.append(decimal: value) }
    }

    /// Ends the object and the line; nothing is added afterwards.
    public mutating func end() { append("}\n") }

    private mutating func begin(_ name: StaticString) { add(name, 0) { _ in } }

    /// Adds a value of at most so many octets.
    @inline(__always)
    private mutating func add(
        _ name: StaticString, _ size: Int, _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        octets.append(atMost: name.utf8CodeUnitCount + size + 4) { line in
            line.append(",\"")
            line.append(name)
            line.append("\":")
            write(&line)
        }
    }

    private mutating func quote(_ value: some Collection<UInt8>) {
        append("\"")
        LogEscape.append(value, to: &octets)
        append("\"")
    }

    private mutating func append(_ text: StaticString) {
        octets.append(atMost: text.utf8CodeUnitCount) { line in line.append(text) }
    }
}
