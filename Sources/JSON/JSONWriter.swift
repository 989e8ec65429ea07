/// Writes compact JSON in UTF-8 into memory of its own; the commas are its business.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.object { writer in
///     writer.member("id", "x")
///     writer.key("parts")
///     writer.array { writer in writer.integer(1) }
/// }
/// send(writer.finish())
/// ```
///
/// It writes what it is told: a key without a value, or two values at the top, is the caller's bug.
public struct JSONWriter: ~Copyable, Sendable {
    /// What is written so far.
    public internal(set) var bytes: [UInt8] = []

    /// Whether the next value or name needs a comma before it.
    private var isAfterValue = false

    /// Makes a writer with room for `capacity` bytes; it grows when they do not suffice.
    public init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

    /// Ends writing and hands over the bytes without a copy.
    public consuming func finish() -> [UInt8] { bytes }

    /// Writes an object whose members `members` writes.
    public mutating func object<E: Error>(
        _ members: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        open(UInt8(ascii: "{"))
        try members(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes an array whose elements `elements` writes.
    public mutating func array<E: Error>(
        _ elements: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        open(UInt8(ascii: "["))
        try elements(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes the name of a member; its value has to follow.
    ///
    /// The name must need no escapes, as names in source code do.
    public mutating func key(_ name: StaticString) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        append(plain: name)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes the name of a member; its value has to follow.
    public mutating func key(_ name: String) {
        beginValue()
        append(quoted: name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func open(_ bracket: UInt8) {
        beginValue()
        bytes.append(bracket)
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        endValue()
    }

    mutating func beginValue() {
        if isAfterValue { bytes.append(UInt8(ascii: ",")) }
        isAfterValue = false
    }

    mutating func endValue() { isAfterValue = true }
}
