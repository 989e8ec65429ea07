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
