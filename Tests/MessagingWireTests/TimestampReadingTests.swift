import Messaging
import MessagingWire
import Testing

@Suite struct `Times that callers write` {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", Int64(0)), ("1970-01-01T00:00Z", 0),
        ("2026-03-01T09:15:30.042Z", 1_772_356_530_042),
        ("2026-03-01T10:15:30.042+01:00", 1_772_356_530_042),
        ("2026-03-01T10:15:30.0429999+0100", 1_772_356_530_042),
        ("2026-03-01T10:15:30.042 01:00", 1_772_356_530_042),
        ("2026-03-01T03:45:30.042-05:30", 1_772_356_530_042),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("1969-12-31T23:59:59.999Z", -1),
        ("2026-03-01T09:15:30.0Z", 1_772_356_530_000),
    ])
    func `are read with any offset (1_8)`(text: String, milliseconds: Int64) {
        #expect(TimestampJSON.read(text) == Timestamp(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "now", "2026-03-01", "2026-03-01T09:15:30", "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T09:60:00Z",
        "2026-03-01T09:15:60Z", "2026-03-01T09:15:30.Z", "2026-03-01T09:15:30ZZ",
        "0000-01-01T00:00:00Z", "2026-3-01T09:15:30Z", "2026-03-01T09:15:30+25:00",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
        "2026-03-01T09:15:30.0123456789Z", "1772356530042", "٢٠٢٦-03-01T09:15:30Z",
    ])
    func `are nothing else`(text: String) {
        #expect(TimestampJSON.read(text) == nil)
    }

    @Test(arguments: 0..<500) func `are the times that are written (1_8)`(number: Int64) {
        // From the year 1 to 9999, in steps that meet every month and leap years.
        let time = Timestamp(
            milliseconds: -62_135_596_800_000 + number * 630_720_061_007 % 315_537_811_200_000)
        #expect(TimestampJSON.read(TimestampJSON.text(time)) == time)
    }
}
