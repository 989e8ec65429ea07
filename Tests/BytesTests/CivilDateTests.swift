import Bytes
import TestSupport
import Testing

@Suite struct `A civil date` {
    @Test(
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1),
            (47_540, 2100, 2, 28), (47_541, 2100, 3, 1), (-719_528, 0, 1, 1),
            (-719_529, -1, 12, 31),
            (-719_468, 0, 3, 1), (-719_469, 0, 2, 29), (-719_162, 1, 1, 1),
            (2_932_896, 9999, 12, 31),
            (2_932_897, 10_000, 1, 1),
        ] as [(Int64, Int64, Int64, Int64)])
    func `is that of its day`(days: Int64, year: Int64, month: Int64, day: Int64) throws {
        let date = try #require(CivilDate(year: year, month: month, day: day))
        #expect(CivilDate(daysSince1970: days) == date)
        #expect(date.daysSince1970 == days)
    }

    @Test(
        arguments: [
            (Int64.min / 86_400_000 - 1, -292_275_055, 5, 16),
            (Int64.max / 86_400_000, 292_278_994, 8, 17),
        ] as [(Int64, Int64, Int64, Int64)])
    func `exists for every timestamp`(days: Int64, year: Int64, month: Int64, day: Int64) {
        let date = CivilDate(daysSince1970: days)
        #expect(date == CivilDate(year: year, month: month, day: day))
        #expect(date.daysSince1970 == days)
    }

    @Test(
        arguments: [
            (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 32), (2026, 2, 29), (2100, 2, 29),
            (2026, 4, 31), (2026, 6, 31), (2026, 9, 31), (2026, 11, 31), (2026, .min, 1),
            (2026, 1, .max),
        ] as [(Int64, Int64, Int64)])
    func `is not made of a day that does not exist`(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test(arguments: -2...2)
    func `follows the day before, in every era`(era: Int64) {
        let first = era * 146_097
        var date = CivilDate(daysSince1970: first - 1)
        for days in first..<first + 146_097 {
            let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
            let last: Int64 =
                switch date.month {
                case 2: isLeap ? 29 : 28
                case 4, 6, 9, 11: 30
                default: 31
                }
            let next =
                date.day < last
                ? (date.year, date.month, date.day + 1)
                : date.month < 12 ? (date.year, date.month + 1, 1) : (date.year + 1, 1, 1)
            date = CivilDate(daysSince1970: days)
            guard (date.year, date.month, date.day) == next, date.daysSince1970 == days else {
                Issue.record("day \(days) is \(date)")
                return
            }
        }
    }

    @Test(
        arguments: [
            (7, 7, 1, 0), (6, 7, 0, 6), (0, 7, 0, 0), (-1, 7, -1, 6), (-7, 7, -1, 0),
            (-8, 7, -2, 6),
            (.min, 2, .min / 2, 0),
        ] as [(Int64, Int64, Int64, Int64)])
    func `a quotient is rounded down`(
        number: Int64, divisor: Int64, quotient: Int64, remainder: Int64
    ) {
        #expect(number.floorDivided(by: divisor) == (quotient, remainder))
    }
}

@Suite struct `A time in ISO 8601` {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_772_356_530_042, "2026-03-01T09:15:30.042Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
            (.max, "292278994-08-17T07:12:55.807Z"),
            (.min, "-292275055-05-16T16:47:04.192Z"),
        ] as [(Int64, String)])
    func `has milliseconds and a Z`(milliseconds: Int64, text: String) {
        #expect(ISO8601.text(milliseconds) == text)
        #expect(ISO8601.wholeSeconds(milliseconds) == text.dropLast(5) + "Z")
        #expect(text.utf8.count <= ISO8601.maximumSize)
    }
}
