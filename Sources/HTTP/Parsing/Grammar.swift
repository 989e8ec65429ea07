/// A set of bytes that one rule of the grammar allows.
///
/// A bit mask of a few words, so that a lookup needs no memory access or bounds check, and
/// constant, so that nothing is initialized at run time. `HeadByteTests` lists the sets again. No
/// rule distinguishes bytes above ASCII, so one word covers them all.
struct ByteClass: Sendable {
    /// 0x00–0x3F, the first byte as the lowest bit.
    private let low: UInt64
    /// 0x40–0x7F.
    private let high: UInt64
    /// All bits or none, for all bytes above ASCII.
    private var beyond: UInt64 = 0

    /// Whether a byte is in the set.
    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte < 0x80 ? (byte < 0x40 ? low : high) : beyond
        return word &>> UInt64(byte) & 1 != 0
    }

    /// `tchar` (RFC 9110 §5.6.2): letters, digits and !#$%&'*+-.^_`|~; for methods and field names.
    static let token = ByteClass(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    /// `field-vchar`, SP and HTAB: bytes of a field value (H25).
    static let value = ByteClass(
        low: 0xFFFF_FFFF_0000_0200, high: 0x7FFF_FFFF_FFFF_FFFF, beyond: .max)
    /// `VCHAR`: bytes of a request line except its blanks.
    static let visible = ByteClass(low: 0xFFFF_FFFE_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
    /// Bytes of a path: letters, digits and `-._~!$&'()*+,;=:@/%|^{}[]` (H15).
    static let path = ByteClass(low: 0x2FFF_FFF2_0000_0000, high: 0x7FFF_FFFE_EFFF_FFFF)
    /// Bytes of a path that are no escape: all but `%`.
    static let unescaped = ByteClass(low: 0x2FFF_FFD2_0000_0000, high: 0x7FFF_FFFE_EFFF_FFFF)
    /// Bytes of a query: those of a path, `?"<>\` and the grave accent (H15).
    static let query = ByteClass(low: 0xFFFF_FFF6_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
    /// Bytes of a registered name or an IPv4 address: RFC 3986 §3.2.2 without percent escapes and
    /// without the comma, which separates lists: letters, digits and `-._~!$&'()*+;=` (H35).
    static let host = ByteClass(low: 0x2BFF_6FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
}

extension Collection<UInt8> {
    /// Whether two byte sequences are equal, ignoring the case of ASCII letters (H1).
    package func isEqualIgnoringCase(_ other: some Collection<UInt8>) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { left, right in
                left.asciiLowercased == right.asciiLowercased
            }
    }
}

extension ArraySlice<UInt8> {
    /// The slice without SP and HTAB at its ends; no other byte is white space (H1).
    package var trimmingBlanks: ArraySlice<UInt8> {
        var slice = self
        while let first = slice.first, first == .sp || first == .htab { slice = slice.dropFirst() }
        while let last = slice.last, last == .sp || last == .htab { slice = slice.dropLast() }
        return slice
    }
}

extension Int64 {
    /// Parses 1–19 decimal digits, leading zeros allowed, at most 2⁶³−1; `nil` for anything else.
    /// Used for Content-Length (H43), ranges and uploads.
    public init?(decimal digits: some Collection<UInt8>) {
        let digits = Array(digits)
        guard let number = digits.span.decimal(in: digits.indices) else { return nil }
        self = number
    }
}

extension StringProtocol {
    /// The text without surrounding blanks and tabs, the optional white space of RFC 9110 §5.6.3.
    ///
    /// Compared by bytes (H1): a blank before a combining mark forms one character with it but is
    /// still a blank.
    package var trimmed: Substring {
        let text = Substring(self)
        let head = text.utf8.drop(while: \.isBlank)
        guard let end = head.lastIndex(where: { byte in !byte.isBlank }) else { return "" }
        return Substring(head[...end])
    }
}

/// Parses list-valued fields (RFC 9110 §5.6.1).
public enum FieldList {
    /// The elements between commas without surrounding blanks, without empty ones.
    ///
    /// A comma inside a quoted string does not separate. `nil` for more than 16 empty elements,
    /// more than 256 in all, or an unterminated quoted string (H30, H57).
    public static func elements(of text: String) -> [Substring]? {
        guard let raw = pieces(of: Substring(text), at: UInt8(ascii: ",")) else { return nil }
        let all = raw.map(\.trimmed)
        let elements = all.filter { element in !element.isEmpty }
        guard all.count <= 256, all.count - elements.count <= 16 else { return nil }
        return elements
    }

    /// The text between separators outside quoted strings; `nil` for an unterminated quoted string.
    package static func pieces(of text: Substring, at separator: UInt8) -> [Substring]? {
        var isQuoted = false
        var isEscaped = false
        let pieces = text.utf8.split(omittingEmptySubsequences: false) { byte in
            if isEscaped {
                isEscaped = false
            } else if isQuoted && byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
            return byte == separator && !isQuoted
        }
        return isQuoted ? nil : pieces.map { piece in Substring(piece) }
    }
}

// These functions read bytes in place, without slices or reference counting. Comparisons fold ASCII
// letters only (H1), and numbers are read digit by digit, because `Int64(_:)` also accepts "+5"
// (H2).
//
// A range is checked once, by a precondition, instead of at each of its bytes.

extension Span<UInt8> {
    /// The index of the first byte outside a class, or `limit`.
    @inline(__always)
    func end(of kind: ByteClass, from start: Int, to limit: Int) -> Int {
        precondition(start >= 0 && limit <= count)
        var index = start
        // Below `limit`, so in bounds.
        while index < limit, unsafe kind.contains(self[unchecked: index]) { index += 1 }
        return index
    }

    /// The same for ``ByteClass/value``, eight bytes at a time, because values are most of a head.
    func endOfValue(from start: Int, to limit: Int) -> Int {
        precondition(start >= 0 && limit <= count)
        var index = start
        while index + 8 <= limit {
            // Below `limit`, so in bounds; the first byte is the lowest.
            let word = UInt64(
                littleEndian: unsafe bytes.unsafeLoadUnaligned(
                    fromUncheckedByteOffset: index, as: UInt64.self))
            // Sets the top bit of each byte that is below 0x20 or 0x7F. A borrow may set bits above
            // the first of them, never below it.
            let low = (word &- 0x2020_2020_2020_2020) & ~word
            let deletes = word ^ 0x7F7F_7F7F_7F7F_7F7F
            let delete = (deletes &- 0x0101_0101_0101_0101) & ~deletes
            let controls = (low | delete) & 0x8080_8080_8080_8080
            index += controls.trailingZeroBitCount / 8
            if controls != 0 {
                guard self[index] == .htab else { return index }
                index += 1
            }
        }
        return end(of: .value, from: index, to: limit)
    }

    /// Whether the bytes of a range equal a name, ignoring the case of ASCII letters.
    func matches(_ name: FieldName, in range: Range<Int>) -> Bool {
        guard range.count == name.text.utf8CodeUnitCount else { return false }
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        // The pointer of a StaticString is valid for the life of the program.
        let own = unsafe name.text.utf8Start
        for index in 0..<range.count {
            // The name is as long as the range, which is in bounds.
            let byte = unsafe self[unchecked: range.lowerBound + index]
            let wanted = unsafe own[index]
            guard byte == wanted || byte.asciiLowercased == wanted.asciiLowercased else {
                return false
            }
        }
        return true
    }

    /// Whether two ranges are equal, ignoring the case of ASCII letters.
    func areEqual(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                self[left].asciiLowercased == self[right].asciiLowercased
            }
    }

    /// Parses 1–19 decimal digits, leading zeros allowed, at most 2⁶³−1; `nil` for anything else
    /// (H43).
    func decimal(in range: Range<Int>) -> Int64? {
        guard (1...19).contains(range.count) else { return nil }
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        // Nineteen digits stay below 2⁶⁴.
        var number: UInt64 = 0
        for index in range {
            // Inside the range, so in bounds.
            let digit = unsafe self[unchecked: index] &- 0x30
            guard digit <= 9 else { return nil }
            number = number &* 10 &+ UInt64(digit)
        }
        return Int64(exactly: number)
    }

    /// The first index of a byte in a range.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        for index in range where self[index] == byte { return index }
        return nil
    }

    /// How often a byte occurs in a range.
    func occurrences(of byte: UInt8, in range: Range<Int>) -> Int {
        var count = 0
        for index in range where self[index] == byte { count += 1 }
        return count
    }

    /// The range without SP and HTAB at its ends; no other byte is white space (H1).
    func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, self[start].isBlank { start += 1 }
        while start < end, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }

    /// A copy of the bytes of a range.
    package func array(_ range: Range<Int>) -> [UInt8] {
        // Copied inside the call; slicing checks the range.
        unsafe withUnsafeBufferPointer { bytes in
            unsafe [UInt8](UnsafeBufferPointer(rebasing: bytes[range]))
        }
    }

    /// The text of a range; bytes that are not UTF-8 are replaced.
    func text(_ range: Range<Int>) -> String {
        // Copied inside the call; slicing checks the range.
        unsafe withUnsafeBufferPointer { bytes in
            unsafe String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
        }
    }
}

extension Collection<UInt8> {
    /// Whether the bytes are a token: one or more `tchar` (RFC 9110 §5.6.2).
    package var isToken: Bool {
        !isEmpty && allSatisfy { byte in ByteClass.token.contains(byte) }
    }
}
