/// Whole numbers as the log and the page of metrics write them.
enum LogNumber {
    static func append(_ number: Int64, to line: inout [UInt8]) {
        line.append(atMost: size) { text in append(number, to: &text) }
    }

    /// The most octets of a number: 19 digits and a sign.
    static let size = 20

    /// The same into room that is there.
    static func append(_ number: Int64, to text: inout OutputSpan<UInt8>) {
        if number < 0 { text.append(UInt8(ascii: "-")) }
        // From the last digit to the first, and then in their order.
        var digits: (high: UInt64, low: UInt64) = (0, 0)
        var rest = number.magnitude
        var count = 0
        repeat {
            digits.high = digits.high << 4 | digits.low >> 60
            digits.low = digits.low << 4 | rest % 10
            rest /= 10
            count += 1
        } while rest > 0
        for _ in 0..<count {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digits.low & 15))
            digits.low = digits.low >> 4 | digits.high << 60
            digits.high >>= 4
        }
    }
}
