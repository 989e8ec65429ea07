import Messaging
import MessagingWire
import Testing

@Suite struct `A time on the wire` {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_772_356_530_042, "2026-03-01T09:15:30.042Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
    ])
    func `it has three fractional digits and a Z (1_8)`(milliseconds: Int64, text: String) {
        #expect(TimestampJSON.text(Timestamp(milliseconds: milliseconds)) == text)
    }

    @Test(arguments: [Int64.min, Int64.max])
    func `no time is out of range`(milliseconds: Int64) {
        #expect(TimestampJSON.text(Timestamp(milliseconds: milliseconds)).hasSuffix("Z"))
    }
}
