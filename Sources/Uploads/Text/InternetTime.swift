/// A point in time as RFC 3339 writes it, in UTC.
enum InternetTime {
    /// `2030-01-01T00:00:00.000Z` from milliseconds since 1970.
    static func withMilliseconds(_ milliseconds: Int64) -> String {
        text(
            milliseconds, fraction: "." + padded(milliseconds - floor(milliseconds, 1000) * 1000, 3)
        )
    }

    /// `2030-01-01T00:00:00Z` from milliseconds since 1970.
    static func wholeSeconds(_ milliseconds: Int64) -> String { text(milliseconds, fraction: "") }

    private static func text(_ milliseconds: Int64, fraction: String) -> String {
        let seconds = floor(milliseconds, 1000)
        let days = floor(seconds, 86_400)
        let clock = seconds - days * 86_400
        // Days are counted in eras of 400 years that begin on 1 March.
        let shifted = days + 719_468
        let era = floor(shifted, 146_097)
        let day = shifted - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let monthOfYear = month < 10 ? month + 3 : month - 9
        let date = [
            padded(year + era * 400 + (monthOfYear <= 2 ? 1 : 0), 4), padded(monthOfYear, 2),
            padded(dayOfYear - (153 * month + 2) / 5 + 1, 2),
        ].joined(separator: "-")
        let time = [clock / 3600, clock / 60 % 60, clock % 60].map { padded($0, 2) }
        return "\(date)T\(time.joined(separator: ":"))\(fraction)Z"
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
