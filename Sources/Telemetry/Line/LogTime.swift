internal import Octets

/// Times as the log writes them: `2026-03-01T09:15:30.042Z` (RFC 3339, UTC).
enum LogTime {
    /// Appends a time in milliseconds since 1970 UTC, of the years 1970 to 9999.
    static func append(_ milliseconds: Int64, to line: inout [UInt8]) {
        line.append(atMost: size) { text in append(milliseconds, to: &text) }
    }

    /// How many octets a time takes.
    static let size = 24

    /// The same into room that is there.
    static func append(_ milliseconds: Int64, to text: inout OutputSpan<UInt8>) {
        let date = civilDate(ofDay: milliseconds / 86_400_000)
        let inDay = milliseconds % 86_400_000
        text.append(twoDigits: date.year / 100)
        text.append(twoDigits: date.year % 100)
        text.append(UInt8(ascii: "-"))
        text.append(twoDigits: date.month)
        text.append(UInt8(ascii: "-"))
        text.append(twoDigits: date.day)
        text.append(UInt8(ascii: "T"))
        text.append(twoDigits: inDay / 3_600_000)
        text.append(UInt8(ascii: ":"))
        text.append(twoDigits: inDay / 60_000 % 60)
        text.append(UInt8(ascii: ":"))
        text.append(twoDigits: inDay / 1000 % 60)
        text.append(UInt8(ascii: "."))
        text.append(0x30 + UInt8(truncatingIfNeeded: inDay % 1000 / 100))
        text.append(twoDigits: inDay % 100)
        text.append(UInt8(ascii: "Z"))
    }

    /// The date of a day counted from 1970-01-01 (H. Hinnant, "chrono-compatible low-level date
    /// algorithms", `civil_from_days`, for days that are not before 1970).
    private static func civilDate(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }
}
