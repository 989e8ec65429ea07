internal import Bytes
public import Messaging

/// Times in JSON: ISO 8601, UTC, exactly three fractional digits, `Z`, because one client parses strictly
/// (platform-api §1.8).
public enum TimestampJSON {
    /// `2026-03-01T09:15:30.042Z`; years beyond 9999 are written with more digits.
    public static func text(_ timestamp: Timestamp) -> String {
        ISO8601.text(timestamp.milliseconds)
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
    private static let moments: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    mutating func timestamp() -> Int64? {
        guard let year = number(4, 1...9999), take("-"), let month = number(2, 1...12), take("-"),
            let day = number(2, 1...31),
            let date = CivilDate(year: year, month: month, day: day), take("T"),
            let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59)
        else { return nil }
        var inMinute: Int64 = 0
        if take(":") {
            guard let second = number(2, 0...59), let fraction = fraction() else { return nil }
            inMinute = second * 1000 + fraction
        }
        guard let offset = offset() else { return nil }
        let minutes = (date.daysSince1970 * 24 + hour) * 60 + minute - offset
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
}
