public import Messaging

/// Times in JSON: ISO 8601, UTC, exactly three fractional digits, `Z` (platform-api §1.8).
///
/// Written without Foundation: one client parses strictly, and a formatter costs more than the rest of the
/// response. The calendar is the proleptic Gregorian one, with days counted as in Howard Hinnant's
/// "chrono-compatible low-level date algorithms".
public enum TimestampJSON {
    /// `2026-03-01T09:15:30.042Z`; years beyond 9999 are written with more digits.
    public static func text(_ timestamp: Timestamp) -> String {
        let (days, inDay) = timestamp.milliseconds.floorDivided(by: 86_400_000)
        let date = CivilDate(daysSince1970: days)
        let seconds = inDay / 1000
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        bytes.append(date.year, width: 4)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(date.month, width: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(date.day, width: 2)
        bytes.append(UInt8(ascii: "T"))
        bytes.append(seconds / 3600, width: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(seconds / 60 % 60, width: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(seconds % 60, width: 2)
        bytes.append(UInt8(ascii: "."))
        bytes.append(inDay % 1000, width: 3)
        bytes.append(UInt8(ascii: "Z"))
        return String(decoding: bytes, as: UTF8.self)
    }
}

private struct CivilDate {
    let year, month, day: Int64

    init(daysSince1970 days: Int64) {
        // Years start on 1 March here, so that the leap day is the last day of a year.
        let (era, dayOfEra) = (days + 719_468).floorDivided(by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ number: Int64, width: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var scale: UInt64 = 1
        for _ in 1..<width { scale *= 10 }
        while rest / scale >= 10 { scale *= 10 }
        while scale > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / scale))
            rest %= scale
            scale /= 10
        }
    }
}

extension TimestampJSON {
    /// Parses ISO 8601 with an offset: `2026-03-01T09:15:30.042Z`, `…T10:15+01:00` (platform-api §1.8).
    ///
    /// Seconds and their fraction are optional; only three digits of a fraction count. A `+` that was not
    /// encoded in a query has become a blank, so a blank is accepted for it.
    ///
    /// - Returns: `nil` for any other text, including days that do not exist.
    public static func read(_ text: String) -> Timestamp? {
        var reader = TimeReader(rest: Array(text.utf8)[...])
        guard let milliseconds = reader.timestamp(), reader.rest.isEmpty else { return nil }
        return Timestamp(milliseconds: milliseconds)
    }
}

private struct TimeReader {
    var rest: ArraySlice<UInt8>

    /// The years 1 to 9999 in UTC: an offset may lead outside of them, to a time that could not be parsed
    /// again.
    private static let moments =
        daysSince1970(1, 1, 1) * 86_400_000...daysSince1970(10_000, 1, 1) * 86_400_000 - 1

    mutating func timestamp() -> Int64? {
        guard let year = number(4, 1...9999), take("-"), let month = number(2, 1...12), take("-"),
            let day = number(2, 1...Self.days(in: month, of: year)), take("T"),
            let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59)
        else { return nil }
        var inMinute: Int64 = 0
        if take(":") {
            guard let second = number(2, 0...59), let fraction = fraction() else { return nil }
            inMinute = second * 1000 + fraction
        }
        guard let offset = offset() else { return nil }
        let minutes = (Self.daysSince1970(year, month, day) * 24 + hour) * 60 + minute - offset
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

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The inverse of the calendar above (Howard Hinnant's `days_from_civil`), for years from 1 on.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }
}
