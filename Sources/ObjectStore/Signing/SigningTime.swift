internal import HTTP

/// A point in time as signatures write it, in whole seconds UTC (§10.4).
struct SigningTime: Sendable {
    /// `20300101T000000Z`.
    let stamp: String

    /// Takes milliseconds since 1970; what is below a second is left out.
    init(_ milliseconds: Int64) {
        let seconds = milliseconds / 1000
        let (year, month, day) = HTTPDate.civil(seconds / 86_400)
        let clock = Int(seconds % 86_400)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = two(year / 100) + two(year % 100) + two(month) + two(day)
        stamp = "\(date)T\(two(clock / 3600))\(two(clock / 60 % 60))\(two(clock % 60))Z"
    }

    /// `20300101`.
    var date: String { String(stamp.prefix(8)) }
}
