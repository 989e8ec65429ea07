internal import Bytes
public import FoundationEssentials
internal import SQL

/// Into which sections a query divides its elements.
///
/// Elements with the same key are in one section, in the order of the query. Sections are in the order of their first
/// elements; there are no empty ones.
public struct Section<Element: Queryable>: Sendable {
    let expression: SQL
    let key: @Sendable (SQLValue) -> SectionKey
    let invalid: ParleyError?

    /// One section for each value of a column.
    public static func value<Value>(_ column: Column<Element, Value>) -> Section {
        Section(
            expression: column.shownValue, key: column.sectionKey,
            invalid: column.comparand.invalid)
    }

    /// One section for each day in a time zone, and one for elements without a time.
    public static func day(_ column: Column<Element, Date?>, _ zone: TimeZone) -> Section {
        Section(
            expression: column.shownValue,
            key: { value in
                guard case .integer(let milliseconds) = value else { return .missing }
                return .day(of: milliseconds, in: zone)
            },
            invalid: column.comparand.invalid)
    }
}

/// What the elements of a section have in common.
public enum SectionKey: Hashable, Sendable {
    /// They have no value.
    case missing
    /// A text, a user id, or the URI of an object.
    case text(String)
    /// A number, or the raw value of a ``TransferStatus``.
    case number(Int64)
    /// A yes or no.
    case flag(Bool)
    /// A time.
    case time(Date)
    /// A day of the Gregorian calendar: the month is 1 to 12, the day 1 to 31.
    case day(year: Int, month: Int, day: Int)

    fileprivate static func day(of milliseconds: Int64, in zone: TimeZone) -> SectionKey {
        let date = Date(milliseconds: milliseconds)
        let (seconds, _) = milliseconds.floorDivided(by: 1000)
        let (days, _) = (seconds + Int64(zone.secondsFromGMT(for: date))).floorDivided(by: 86_400)
        let day = CivilDate(daysSince1970: days)
        return .day(year: Int(day.year), month: Int(day.month), day: Int(day.day))
    }
}
