import HTTP
import TestSupport
import Testing

@Suite struct `Dates of HTTP` {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ])
    func `all three formats are read (H103)`(text: String) {
        #expect(HTTPDate.parse(text) == 784_111_777)
    }

    @Test func `dates are written in IMF-fixdate, in English and 29 bytes long (H93)`() {
        #expect(HTTPDate.format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.format(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDate.format(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.format(-62_167_219_200) == "Sat, 01 Jan 0000 00:00:00 GMT")
    }

    @Test(arguments: [
        "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Xun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94",
        "Sun, 06 Nov 1994 08:49:37 GMT\u{301}", "Sun, 29 Feb 2100 00:00:00 GMT",
        "Sun, \u{661}6 Nov 1994 08:49:37 GMT",
    ])
    func `anything else is rejected (H103)`(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test func `two-digit years are in the nearest century (H103)`() {
        #expect(
            HTTPDate.parse("Friday, 01-Jan-27 00:00:00 GMT")
                == HTTPDate.parse("Fri, 01 Jan 2027 00:00:00 GMT"))
        #expect(
            HTTPDate.parse("Friday, 01-Jan-99 00:00:00 GMT")
                == HTTPDate.parse("Fri, 01 Jan 1999 00:00:00 GMT"))
    }

    @Test(arguments: 0..<500)
    func `a written date is read back (H93, H103)`(case number: UInt64) {
        var random = SeededGenerator(number)
        // From the year 1000 to the end of 9999: four digits.
        let seconds = Int64(random.number(-30_610_224_000...253_402_300_799))
        let text = HTTPDate.format(seconds)
        #expect(HTTPDate.parse(text) == seconds)
        #expect(text.utf8.count == 29)
    }

    @Test(arguments: 0..<200)
    func `a later second gives a later date (H93)`(case number: UInt64) {
        var random = SeededGenerator(number)
        let seconds = Int64(random.number(0...4_102_444_800))
        let distance = Int64(random.number(1...100_000))
        let (first, second) = (HTTPDate.format(seconds), HTTPDate.format(seconds + distance))
        #expect(
            HTTPDate.parse(second).map { later in later - seconds } == distance,
            "\(first) → \(second)")
    }
}
