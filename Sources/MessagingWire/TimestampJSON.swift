public import Messaging

/// Times on the wire: ISO 8601, UTC, exactly three fractional digits, `Z` (platform-api §1.8).
///
/// Written without Foundation: one client parses strictly, and a formatter costs more than the
/// rest of the answer. The calendar is the proleptic Gregorian one, days counted as in
/// Howard Hinnant's "chrono-compatible low-level date algorithms".
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
