extension Collection<UInt8> {
    /// Whether these octets are those, ignoring the case of ASCII letters (H1).
    func isEqualIgnoringCase(_ other: some Collection<UInt8>) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { left, right in
                left.asciiLowercased == right.asciiLowercased
            }
    }
}

extension ArraySlice<UInt8> {
    /// Without the SP and HTAB at its ends; no other octet is white space here (H1).
    var trimmingBlanks: ArraySlice<UInt8> {
        var slice = self
        while let first = slice.first, first == .sp || first == .htab { slice = slice.dropFirst() }
        while let last = slice.last, last == .sp || last == .htab { slice = slice.dropLast() }
        return slice
    }
}

extension Int64 {
    /// Reads 1–19 decimal digits, leading zeros allowed, at most 2⁶³−1; `nil` for anything else: the
    /// numbers of Content-Length (H43), of ranges and of uploads.
    public init?(decimal digits: some Collection<UInt8>) {
        let digits = Array(digits)
        guard let number = digits.span.decimal(in: digits.indices) else { return nil }
        self = number
    }
}
