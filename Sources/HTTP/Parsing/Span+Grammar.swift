// Readings of octets where they lie: no slice is made, nothing is retained. Comparisons fold ASCII
// letters only (H1), and numbers are read digit by digit: `Int64(_:)` would also take "+5" (H2).
//
// A run of octets is bounded once, by a precondition, and not again at each of its octets.

extension Span<UInt8> {
    /// Where a run of octets of a class ends: the first place that holds another one, or `limit`.
    @inline(__always)
    func end(of kind: OctetClass, from start: Int, to limit: Int) -> Int {
        precondition(start >= 0 && limit <= count)
        var index = start
        // Below `limit`, so inside.
        while index < limit, unsafe kind.contains(self[unchecked: index]) { index += 1 }
        return index
    }

    /// The same for ``OctetClass/value``, eight octets at a time: most of a head are values.
    func endOfValue(from start: Int, to limit: Int) -> Int {
        precondition(start >= 0 && limit <= count)
        var index = start
        while index + 8 <= limit {
            // Below `limit`, so inside; the first octet is the lowest.
            let word = UInt64(
                littleEndian: unsafe bytes.unsafeLoadUnaligned(
                    fromUncheckedByteOffset: index, as: UInt64.self))
            // The top bit of each octet below 0x20 and of each that is 0x7F. A borrow may set bits
            // above the first of them, never below it.
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

    /// Whether the octets of a range are that name, ignoring the case of ASCII letters.
    func matches(_ name: FieldName, in range: Range<Int>) -> Bool {
        guard range.count == name.text.utf8CodeUnitCount else { return false }
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        // The pointer of a StaticString lives as long as the program.
        let own = unsafe name.text.utf8Start
        for place in 0..<range.count {
            // As long as the range, which lies inside.
            let octet = unsafe self[unchecked: range.lowerBound + place]
            let wanted = unsafe own[place]
            guard octet == wanted || octet.asciiLowercased == wanted.asciiLowercased else {
                return false
            }
        }
        return true
    }

    /// Whether two ranges hold the same octets, ignoring the case of ASCII letters.
    func areEqual(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                self[left].asciiLowercased == self[right].asciiLowercased
            }
    }

    /// Reads 1–19 decimal digits, leading zeros allowed, at most 2⁶³−1; `nil` otherwise (H43).
    func decimal(in range: Range<Int>) -> Int64? {
        guard (1...19).contains(range.count) else { return nil }
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        // Nineteen digits stay below 2⁶⁴.
        var number: UInt64 = 0
        for index in range {
            // In the range, so inside.
            let digit = unsafe self[unchecked: index] &- 0x30
            guard digit <= 9 else { return nil }
            number = number &* 10 &+ UInt64(digit)
        }
        return Int64(exactly: number)
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

    /// A range without the SP and HTAB at its ends; no other octet is white space here (H1).
    func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, self[start].isBlank { start += 1 }
        while start < end, self[end - 1].isBlank { end -= 1 }
        return start..<end
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
