/// Times as ISO 8601 (RFC 3339), in milliseconds since 1970 UTC.
///
/// Without Foundation, whose formatter costs more than the rest of a response.
public enum ISO8601 {
    /// `2026-03-01T09:15:30.042Z`; years beyond 9999 have more digits.
    public static func text(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        bytes.append(atMost: maximumSize) { text in append(milliseconds, to: &text) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `2026-03-01T09:15:30Z`: the same without the fraction of a second.
    public static func wholeSeconds(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        bytes.append(atMost: maximumSize) { text in
            append(second: milliseconds.floorDivided(by: 1000).quotient, to: &text)
            text.append(UInt8(ascii: "Z"))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The length in bytes of the earliest time, in the year -292,275,055.
    @inlinable public static var maximumSize: Int { 30 }

    /// Appends the same as ``text(_:)``, at most ``maximumSize`` bytes.
    @inlinable
    public static func append(_ milliseconds: Int64, to text: inout OutputSpan<UInt8>) {
        let (second, fraction) = milliseconds.floorDivided(by: 1000)
        append(second: second, to: &text)
        text.append(UInt8(ascii: "."))
        text.append(0x30 + UInt8(truncatingIfNeeded: fraction / 100))
        text.append(twoDigits: fraction % 100)
        text.append(UInt8(ascii: "Z"))
    }

    /// Appends date and time to the second, without the time zone.
    @inlinable @inline(__always)
    static func append(second: Int64, to text: inout OutputSpan<UInt8>) {
        let (days, inDay) = second.floorDivided(by: 86_400)
        let date = CivilDate(daysSince1970: days)
        text.append(year: date.year)
        text.append(UInt8(ascii: "-"))
        text.append(twoDigits: date.month)
        text.append(UInt8(ascii: "-"))
        text.append(twoDigits: date.day)
        text.append(UInt8(ascii: "T"))
        text.append(timeOfDay: inDay)
    }
}

extension OutputSpan<UInt8> {
    /// Appends a year in four digits; one before 0 or after 9999 with its sign and as many digits as it has.
    @inlinable @inline(__always)
    public mutating func append(year: Int64) {
        guard (0...9999).contains(year) else { return append(longYear: year) }
        append(twoDigits: year / 100)
        append(twoDigits: year % 100)
    }

    /// Appends `09:15:30`.
    ///
    /// - Parameter second: The second of the day.
    @inlinable @inline(__always)
    public mutating func append(timeOfDay second: Int64) {
        append(twoDigits: second / 3600)
        append(UInt8(ascii: ":"))
        append(twoDigits: second / 60 % 60)
        append(UInt8(ascii: ":"))
        append(twoDigits: second % 60)
    }

    /// Appends a year before 0 or after 9999: its sign and at least four digits.
    @usableFromInline
    mutating func append(longYear year: Int64) {
        if year < 0 { append(UInt8(ascii: "-")) }
        let digits = String(year.magnitude)
        for _ in digits.utf8.count..<max(4, digits.utf8.count) { append(UInt8(ascii: "0")) }
        for digit in digits.utf8 { append(digit) }
    }
}

extension ISO8601 {
    /// Parses a time with an offset: `2026-03-01T09:15:30.042Z`, `…T10:15+01:00`.
    ///
    /// Seconds and their fraction are optional; only three digits of a fraction count. A `+` that was not
    /// encoded in a query has become a blank, so a blank is accepted for it.
    ///
    /// - Returns: `nil` for any other text, including days that do not exist.
    public static func parse(_ text: String) -> Int64? {
        var reader = TimeReader(rest: Array(text.utf8)[...])
        guard let milliseconds = reader.milliseconds(), reader.rest.isEmpty else { return nil }
        return milliseconds
    }
}

private struct TimeReader {
    var rest: ArraySlice<UInt8>

    /// The years 1 to 9999 in UTC: an offset may lead outside of them, to a time that could not be parsed
    /// again.
    private static let moments: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    mutating func milliseconds() -> Int64? {
        guard let year = number(4, 1...9999), take("-"), let month = number(2, 1...12), take("-"),
            let day = number(2, 1...31),
            let date = CivilDate(year: year, month: month, day: day), take("T"),
            let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59)
        else { return nil }
        var inMinute: Int64 = 0
        if take(":") {
            guard let second = number(2, 0...59), let fraction = fraction() else { return nil }
            inMinute = second * 1000 + fraction
        }
        guard let offset = offset() else { return nil }
        let minutes = (date.daysSince1970 * 24 + hour) * 60 + minute - offset
        let moment = minutes * 60_000 + inMinute
        return Self.moments.contains(moment) ? moment : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func number(_ digits: Int, _ range: ClosedRange<Int64>) -> Int64? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        rest = rest.dropFirst(digits)
        let number = text.reduce(0) { number, digit in number * 10 + Int64(digit - 0x30) }
        return range.contains(number) ? number : nil
    }

    /// Milliseconds; 0 if there is no fraction.
    private mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...9).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return (digits.prefix(3) + repeatElement(0x30, count: max(0, 3 - digits.count)))
            .reduce(0) { number, digit in number * 10 + Int64(digit - 0x30) }
    }

    /// Minutes east of Greenwich.
    private mutating func offset() -> Int64? {
        if take("Z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+") || take(" "), let hour = number(2, 0...23) else { return nil }
        _ = take(":")
        guard let minute = number(2, 0...59) else { return nil }
        return (hour * 60 + minute) * (isWest ? -1 : 1)
    }
}
