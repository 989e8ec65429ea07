/// Dates as HTTP writes them (RFC 9110 §5.6.7), in whole seconds since 1970 UTC.
public enum HTTPDate {
    static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`, English whatever the locale (H93).
    public static func format(_ seconds: Int64) -> String {
        let days = seconds.floorDivided(by: 86_400)
        let clock = seconds - days * 86_400
        let (year, month, day) = civil(days)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let weekday = Self.days[Int(days - days.floorDivided(by: 7) * 7)]
        // Four digits, also of the first thousand years.
        let digits = two(Int64(year / 100)) + two(Int64(year % 100))
        let date = "\(two(Int64(day))) \(months[month - 1]) \(digits)"
        return
            "\(weekday), \(date) \(two(clock / 3600)):\(two(clock / 60 % 60)):\(two(clock % 60)) GMT"
    }

    /// Days since 1970-01-01 of a Gregorian date, in eras of 400 years that begin in March.
    package static func daysSinceEpoch(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        let year = Int64(month <= 2 ? year - 1 : year)
        let era = year.floorDivided(by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The Gregorian date of a day, counted from 1970-01-01.
    package static func civil(_ days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        let year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        return (year, month, Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1))
    }
}

extension Int64 {
    /// The quotient rounded towards minus infinity.
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
