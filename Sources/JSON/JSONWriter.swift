internal import Bytes

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

extension JSONWriter {
    /// Writes `null`.
    public mutating func null() { word("null") }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

    /// Writes a string with what RFC 8259 §7 wants escaped, and nothing else.
    public mutating func string(_ text: String) {
        beginValue()
        append(quoted: text)
        endValue()
    }

    /// Writes a string from its bytes, which must be UTF-8, as ``JSONValue/utf8`` gives them.
    public mutating func string(utf8 text: [UInt8]) { string(utf8: text[...]) }

    /// Writes a string from its bytes, which must be UTF-8, as ``JSONValue/utf8`` gives them.
    public mutating func string(utf8 text: ArraySlice<UInt8>) {
        beginValue()
        append(quoted: text)
        endValue()
    }

    /// Writes a whole number.
    public mutating func integer(_ value: Int64) {
        beginValue()
        bytes.append(atMost: 20) { span in span.append(decimal: value) }
        endValue()
    }

    /// Writes a whole number.
    public mutating func integer(_ value: Int) { integer(Int64(value)) }

    /// Writes a number so that it reads back as the same double; `null` for what JSON cannot say
    /// (infinities and not-a-number).
    public mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        bytes.append(contentsOf: value.description.utf8)
        endValue()
    }

    /// Writes a value that is JSON already, as it stands.
    public mutating func raw(_ json: [UInt8]) { raw(json[...]) }

    /// Writes a value that is JSON already, as it stands.
    public mutating func raw(_ json: ArraySlice<UInt8>) {
        beginValue()
        bytes.append(contentsOf: json)
        endValue()
    }

    private mutating func word(_ word: StaticString) {
        beginValue()
        append(plain: word)
        endValue()
    }
}

extension JSONWriter {
    /// Writes a member; `nil` as `null`.
    public mutating func member(_ name: StaticString, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    /// Writes a member.
    public mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        integer(value)
    }

    /// Writes a member.
    public mutating func member(_ name: StaticString, _ value: Int64) {
        key(name)
        integer(value)
    }

    /// Writes a member.
    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// Writes a member whose value is JSON already.
    public mutating func member(_ name: StaticString, raw json: [UInt8]) {
        key(name)
        raw(json)
    }

    /// Writes a member whose value is JSON already.
    public mutating func member(_ name: StaticString, raw json: ArraySlice<UInt8>) {
        key(name)
        raw(json)
    }
}

// The one file of the writer that touches pointers: a literal lives for ever, and the storage of a
// string or slice is looked at only inside the call that lends it.

extension JSONWriter {
    /// Appends a literal that needs no escapes.
    mutating func append(plain literal: StaticString) {
        literal.withUTF8Buffer { text in
            assert(
                unsafe endOfUnescaped(in: text.span, from: 0) == text.count,
                "a literal with escapes")
            unsafe bytes.append(contentsOf: text)
        }
    }

    mutating func append(quoted text: String) {
        var text = text
        text.withUTF8 { text in unsafe append(quoted: text) }
    }

    mutating func append(quoted text: ArraySlice<UInt8>) {
        unsafe text.withUnsafeBufferPointer { text in unsafe append(quoted: text) }
    }

    private mutating func append(quoted text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        var place = 0
        while true {
            let stop = unsafe endOfUnescaped(in: text.span, from: place)
            // Rebased, so that it is one memcpy.
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[place..<stop]))
            guard stop < text.count else { break }
            append(escaped: unsafe text[stop])
            place = stop + 1
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        if let letter = JSONEscape.letter(for: byte) { return bytes.append(letter) }
        bytes.append(contentsOf: "u00".utf8)
        for digit in [byte >> 4, byte & 0xF] {
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
