/// Whole numbers as the log and the page of metrics write them.
enum LogNumber {
    static func append(_ number: Int64, to line: inout [UInt8]) {
        if number < 0 { line.append(UInt8(ascii: "-")) }
        let first = line.count
        var rest = number.magnitude
        repeat {
            line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        line[first...].reverse()
    }
}
