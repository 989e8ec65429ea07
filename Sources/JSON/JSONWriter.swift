internal import Bytes

/// Writes compact JSON in UTF-8 into a growing array, and adds the commas.
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
/// The structure is not checked: a key without a value, or two values at the top, is a bug of the caller.
public struct JSONWriter: ~Copyable, Sendable {
    /// The JSON written so far.
    public private(set) var bytes: [UInt8] = []

    /// Whether the next value or name needs a comma before it.
    private var isAfterValue = false

    /// Makes a writer with space for `capacity` bytes; it grows when they do not suffice.
    public init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

    /// Ends writing and returns the bytes without a copy.
    public consuming func finish() -> [UInt8] { bytes }

    /// Writes an object; `members` writes its members.
    public mutating func object<E: Error>(
        _ members: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        open(UInt8(ascii: "{"))
        try members(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes an array; `elements` writes its elements.
    public mutating func array<E: Error>(
        _ elements: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        open(UInt8(ascii: "["))
        try elements(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes the name of a member; its value must follow.
    ///
    /// The name must not need escapes.
    public mutating func key(_ name: StaticString) {
        assertPlain(name)
        appendValue(atMost: name.utf8CodeUnitCount + 3) { text in
            text.append(UInt8(ascii: "\""))
            text.append(name)
            text.append(UInt8(ascii: "\""))
            text.append(UInt8(ascii: ":"))
        }
        isAfterValue = false
    }

    /// Writes the name of a member; its value must follow.
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

    private mutating func beginValue() {
        if isAfterValue { bytes.append(UInt8(ascii: ",")) }
        isAfterValue = false
    }

    private mutating func endValue() { isAfterValue = true }

    /// Writes `null`.
    public mutating func null() { word("null") }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

    /// Writes a string and escapes only what RFC 8259 §7 requires.
    public mutating func string(_ text: String) {
        beginValue()
        append(quoted: text)
        endValue()
    }

    /// Writes a string from its bytes, which must be UTF-8.
    public mutating func string(utf8 text: [UInt8]) { string(utf8: text[...]) }

    /// Writes a string from its bytes, which must be UTF-8.
    public mutating func string(utf8 text: ArraySlice<UInt8>) {
        beginValue()
        append(quoted: text)
        endValue()
    }

    /// Writes a string: a text that was escaped before, and then what `write` appends.
    ///
    /// - Parameters:
    ///   - size: The most bytes that `write` appends; it appends nothing that must be escaped.
    public mutating func string(
        _ start: EscapedText = .empty, thenAtMost size: Int,
        _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        appendValue(atMost: start.bytes.count + size + 2) { text in
            text.append(UInt8(ascii: "\""))
            text.append(start.bytes.span)
            write(&text)
            text.append(UInt8(ascii: "\""))
        }
    }

    /// Writes an integer.
    public mutating func integer(_ value: Int64) {
        appendValue(atMost: 20) { span in span.append(decimal: value) }
    }

    /// Writes an integer.
    public mutating func integer(_ value: Int) { integer(Int64(value)) }

    /// Writes a number that reads back as the same double; `null` for infinities and NaN.
    public mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        bytes.append(contentsOf: value.description.utf8)
        endValue()
    }

    /// Writes bytes that already are a JSON value.
    public mutating func raw(_ json: [UInt8]) { raw(json[...]) }

    /// Writes bytes that already are a JSON value.
    public mutating func raw(_ json: ArraySlice<UInt8>) {
        beginValue()
        bytes.append(contentsOf: json)
        endValue()
    }

    private mutating func word(_ word: StaticString) {
        appendValue(atMost: word.utf8CodeUnitCount) { text in text.append(word) }
    }

    /// Appends the comma that a value or name needs, and the value, with one check of the capacity.
    ///
    /// - Parameter size: The most bytes that `write` appends.
    @inline(__always)
    private mutating func appendValue(
        atMost size: Int, _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        let needsComma = isAfterValue
        bytes.append(atMost: size + 1) { text in
            if needsComma { text.append(UInt8(ascii: ",")) }
            write(&text)
        }
        isAfterValue = true
    }

    /// Writes a member with a string, or with `null` for `nil`.
    public mutating func member(_ name: StaticString, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    /// Writes a member with an integer.
    public mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        integer(value)
    }

    /// Writes a member with an integer.
    public mutating func member(_ name: StaticString, _ value: Int64) {
        key(name)
        integer(value)
    }

    /// Writes a member with a Boolean.
    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// Writes a member whose value already is JSON.
    public mutating func member(_ name: StaticString, raw json: [UInt8]) {
        key(name)
        raw(json)
    }

    /// Writes a member whose value already is JSON.
    public mutating func member(_ name: StaticString, raw json: ArraySlice<UInt8>) {
        key(name)
        raw(json)
    }

    // The functions below use pointers: a literal lives as long as the program, and the storage of a
    // string or slice is used only inside the call that lends it.

    /// Checks that a literal needs no escapes.
    private func assertPlain(_ literal: StaticString) {
        literal.withUTF8Buffer { text in
            assert(
                unsafe endOfUnescaped(in: text.span, from: 0) == text.count,
                "a literal with escapes")
        }
    }

    private mutating func append(quoted text: String) {
        var text = text
        text.withUTF8 { text in unsafe append(quoted: text) }
    }

    private mutating func append(quoted text: ArraySlice<UInt8>) {
        unsafe text.withUnsafeBufferPointer { text in unsafe append(quoted: text) }
    }

    private mutating func append(quoted text: UnsafeBufferPointer<UInt8>) {
        // Most texts need no escapes.
        if unsafe endOfUnescaped(in: text.span, from: 0) == text.count {
            return bytes.append(atMost: text.count + 2) { quoted in
                quoted.append(UInt8(ascii: "\""))
                unsafe quoted.append(text.span)
                quoted.append(UInt8(ascii: "\""))
            }
        }
        bytes.append(UInt8(ascii: "\""))
        var place = 0
        while true {
            let stop = unsafe endOfUnescaped(in: text.span, from: place)
            // Rebased, so that the copy is one memcpy.
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

/// A text with the escapes of a JSON string, made once to be written often.
public struct EscapedText: Sendable {
    fileprivate let bytes: [UInt8]

    /// No text.
    public static let empty = EscapedText("")

    /// Escapes a text.
    public init(_ text: String) {
        var writer = JSONWriter(capacity: text.utf8.count + 2)
        writer.string(text)
        bytes = Array(writer.bytes.dropFirst().dropLast())
    }
}
