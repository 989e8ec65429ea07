internal import Bytes

/// Formats and parses HTTP dates (RFC 9110 §5.6.7), in whole seconds since 1970 UTC.
public enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The date as IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`, in English whatever the locale
    /// (H93).
    public static func format(_ seconds: Int64) -> String {
        let (days, clock) = seconds.floorDivided(by: 86_400)
        let date = CivilDate(daysSince1970: days)
        let weekday = Self.days[Int(days.floorDivided(by: 7).remainder)].utf8
        let month = months[Int(date.month) - 1].utf8
        var bytes: [UInt8] = []
        // The longest year has 13 bytes.
        bytes.append(atMost: 38) { text in
            text.append(weekday.span)
            text.append(", ")
            text.append(twoDigits: date.day)
            text.append(.sp)
            text.append(month.span)
            text.append(.sp)
            text.append(year: date.year)
            text.append(.sp)
            text.append(timeOfDay: clock)
            text.append(" GMT")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPDate {
    private static let longDays = [
        "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday",
    ]

    /// Parses any of the three formats (H103); `nil` for anything else.
    ///
    /// The weekday must be valid but is not compared with the date.
    public static func parse(_ text: String) -> Int64? {
        var imf = DateReader(text)
        if let seconds = imf.imfFixdate() { return seconds }
        var old = DateReader(text)
        if let seconds = old.rfc850() { return seconds }
        var unix = DateReader(text)
        return unix.asctime()
    }

    /// A parser of dates.
    private struct DateReader {
        private var rest: Substring.UTF8View

        init(_ text: String) { rest = text[...].utf8 }

        /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
        mutating func imfFixdate() -> Int64? {
            guard
                name(in: days) != nil, take(", "), let day = number(2), take(" "),
                let month = name(in: months), take(" "), let year = number(4), take(" "),
                let clock = clock(), take(" GMT"), rest.isEmpty
            else { return nil }
            return seconds(year, month + 1, day, clock)
        }

        /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
        mutating func rfc850() -> Int64? {
            guard
                name(in: longDays) != nil, take(", "), let day = number(2), take("-"),
                let month = name(in: months), take("-"), let year = number(2), take(" "),
                let clock = clock(), take(" GMT"), rest.isEmpty
            else { return nil }
            // The century that is at most 50 years ahead of 2026.
            return seconds(year + (year > 76 ? 1900 : 2000), month + 1, day, clock)
        }

        /// Parses `Sun Nov  6 08:49:37 1994`.
        mutating func asctime() -> Int64? {
            guard
                name(in: days) != nil, take(" "), let month = name(in: months), take(" "),
                let day = take(" ") ? number(1) : number(2), take(" "), let clock = clock(),
                take(" "), let year = number(4), rest.isEmpty
            else { return nil }
            return seconds(year, month + 1, day, clock)
        }

        /// Parses `08:49:37` to seconds of the day; a leap second becomes the next minute.
        private mutating func clock() -> Int64? {
            guard
                let hour = number(2), take(":"), let minute = number(2), take(":"),
                let second = number(2), hour < 24, minute < 60, second <= 60
            else { return nil }
            return Int64(hour * 3600 + minute * 60 + second)
        }

        private mutating func take(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }

        private mutating func name(in list: [String]) -> Int? {
            for (index, name) in list.enumerated() where take(name) { return index }
            return nil
        }

        private mutating func number(_ count: Int) -> Int? {
            let digits = rest.prefix(count)
            guard digits.count == count, let number = Int64(decimal: digits) else { return nil }
            rest = rest.dropFirst(count)
            return Int(number)
        }

        private func seconds(_ year: Int, _ month: Int, _ day: Int, _ clock: Int64) -> Int64? {
            let date = CivilDate(year: Int64(year), month: Int64(month), day: Int64(day))
            return date.map { date in date.daysSince1970 * 86_400 + clock }
        }
    }
}
