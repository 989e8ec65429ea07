extension HTTPDate {
    private static let longDays = [
        "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday",
    ]

    /// Reads any of the three historic formats (H103); `nil` when it is none of them.
    ///
    /// The name of the day must be one, and is not compared with the date.
    public static func parse(_ text: String) -> Int64? {
        var imf = DateReader(text)
        if let seconds = imf.imfFixdate() { return seconds }
        var old = DateReader(text)
        if let seconds = old.rfc850() { return seconds }
        var unix = DateReader(text)
        return unix.asctime()
    }

    /// Walks over the text of a date.
    private struct DateReader {
        private var rest: Substring.UTF8View

        init(_ text: String) { rest = text[...].utf8 }

        /// `Sun, 06 Nov 1994 08:49:37 GMT`.
        mutating func imfFixdate() -> Int64? {
            guard
                name(in: days) != nil, take(", "), let day = number(2), take(" "),
                let month = name(in: months), take(" "), let year = number(4), take(" "),
                let clock = clock(), take(" GMT"), rest.isEmpty
            else { return nil }
            return seconds(year, month + 1, day, clock)
        }

        /// `Sunday, 06-Nov-94 08:49:37 GMT`.
        mutating func rfc850() -> Int64? {
            guard
                name(in: longDays) != nil, take(", "), let day = number(2), take("-"),
                let month = name(in: months), take("-"), let year = number(2), take(" "),
                let clock = clock(), take(" GMT"), rest.isEmpty
            else { return nil }
            // The nearest century that is not more than 50 years ahead of 2026.
            return seconds(year + (year > 76 ? 1900 : 2000), month + 1, day, clock)
        }

        /// `Sun Nov  6 08:49:37 1994`.
        mutating func asctime() -> Int64? {
            guard
                name(in: days) != nil, take(" "), let month = name(in: months), take(" "),
                let day = take(" ") ? number(1) : number(2), take(" "), let clock = clock(),
                take(" "), let year = number(4), rest.isEmpty
            else { return nil }
            return seconds(year, month + 1, day, clock)
        }

        /// `08:49:37`, as seconds of the day; a leap second belongs to the next minute.
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
            let days = daysSinceEpoch(year, month, day)
            guard civil(days) == (year, month, day) else { return nil }
            return days * 86_400 + clock
        }
    }
}
