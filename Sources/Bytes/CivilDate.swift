/// A date of the proleptic Gregorian calendar.
///
/// Computed as in H. Hinnant's "chrono-compatible low-level date algorithms": in eras of 400 years that begin on
/// 1 March, so that the leap day is the last day of a year. Everything is inlined, because most responses and log
/// lines hold times.
@frozen public struct CivilDate: Equatable, Sendable {
    /// The year; year 0 precedes year 1.
    public let year: Int64
    /// The month, 1 to 12.
    public let month: Int64
    /// The day of the month, 1 to 31.
    public let day: Int64

    /// Creates a date.
    ///
    /// - Returns: `nil` for a day that does not exist, such as 29 February 2100.
    /// - Precondition: The year's distance from 1970 in days fits into an `Int64`.
    @inlinable
    public init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        self.year = year
        self.month = month
        self.day = day
        // A day after the end of its month is counted as one of the next month.
        guard CivilDate(daysSince1970: daysSince1970) == self else { return nil }
    }

    /// The date of a day counted from 1970-01-01, negative before.
    ///
    /// - Precondition: `days` is at least 719,468 below `Int64.max`; the days of all timestamps are.
    @inlinable
    public init(daysSince1970 days: Int64) {
        let (era, dayOfEra) = (days + 719_468).floorDivided(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The day counted from 1970-01-01, negative before.
    @inlinable public var daysSince1970: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).floorDivided(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }
}

extension Int64 {
    /// The quotient rounded towards negative infinity, and the remainder, which is never negative.
    ///
    /// - Precondition: The divisor is positive.
    @inlinable
    public func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
