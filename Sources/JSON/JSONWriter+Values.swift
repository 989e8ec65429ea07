internal import Octets

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
