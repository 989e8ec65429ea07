// Readings of octets where they lie: no slice is made, nothing is retained. Comparisons fold ASCII
// letters only (H1), and numbers are read digit by digit: `Int64(_:)` would also take "+5" (H2).

extension Span<UInt8> {
    /// Whether the octets of a range are that name, ignoring the case of ASCII letters.
    func matches(_ name: FieldName, in range: Range<Int>) -> Bool {
        guard range.count == name.text.utf8CodeUnitCount else { return false }
        var index = range.lowerBound
        // The pointer of a StaticString lives as long as the program.
        let own = unsafe name.text.utf8Start
        for place in 0..<range.count {
            guard unsafe self[index].asciiLowercased == own[place].asciiLowercased else {
                return false
            }
            index += 1
        }
        return true
    }

    /// Reads 1–19 decimal digits, leading zeros allowed, at most 2⁶³−1; `nil` otherwise (H43).
    func decimal(in range: Range<Int>) -> Int64? {
        guard (1...19).contains(range.count) else { return nil }
        var number: Int64 = 0
        for index in range {
            guard (0x30...0x39).contains(self[index]) else { return nil }
            let (tens, overflowed) = number.multipliedReportingOverflow(by: 10)
            let (sum, carried) = tens.addingReportingOverflow(Int64(self[index] - 0x30))
            guard !overflowed, !carried else { return nil }
            number = sum
        }
        return number
    }

    /// The first place of an octet in a range.
    func firstIndex(of octet: UInt8, in range: Range<Int>) -> Int? {
        for index in range where self[index] == octet { return index }
        return nil
    }

    /// How often an octet stands in a range.
    func occurrences(of octet: UInt8, in range: Range<Int>) -> Int {
        var count = 0
        for index in range where self[index] == octet { count += 1 }
        return count
    }

    /// Whether all octets of a range belong to a class.
    func allOctets(in range: Range<Int>, are kind: OctetClass) -> Bool {
        let classes = OctetClass.table
        for index in range where !classes[Int(self[index])].contains(kind) { return false }
        return true
    }

    /// A copy of a range.
    func array(_ range: Range<Int>) -> [UInt8] {
        unsafe withUnsafeBufferPointer { octets in
            unsafe [UInt8](UnsafeBufferPointer(rebasing: octets[range]))
        }
    }

    /// A range as text; it holds ASCII, or what replaces octets that are not UTF-8.
    func text(_ range: Range<Int>) -> String {
        unsafe withUnsafeBufferPointer { octets in
            unsafe String(decoding: UnsafeBufferPointer(rebasing: octets[range]), as: UTF8.self)
        }
    }
}
