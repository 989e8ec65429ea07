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
        append("{\"time\":\"")
        LogTime.append(milliseconds, to: &octets)
        append("\",\"level\":\"")
        append(level)
        append("\"")
    }

    /// Adds a text, escaped and cut to 1 KiB.
    public mutating func text(_ name: StaticString, _ value: String) {
        begin(name)
        quote(value.utf8)
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
        begin(name)
        append("\"")
        write(&octets)
        append("\"")
    }

    /// Adds a whole number.
    public mutating func number(_ name: StaticString, _ value: Int64) {
        begin(name)
        LogNumber.append(value, to: &octets)
    }

    /// Ends the object and the line; nothing is added afterwards.
    public mutating func end() { append("}\n") }

    private mutating func begin(_ name: StaticString) {
        append(",\"")
        append(name)
        append("\":")
    }

    private mutating func quote(_ value: some Collection<UInt8>) {
        append("\"")
        LogEscape.append(value, to: &octets)
        append("\"")
    }

    private mutating func append(_ text: StaticString) {
        // Holds because a literal's octets live as long as the program.
        unsafe octets.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
