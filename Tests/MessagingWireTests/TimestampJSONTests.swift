import Messaging
import MessagingWire
import Testing

@Suite struct `A time in JSON` {
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

@Suite struct `Times in requests` {
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
    func `are rejected in any other form`(text: String) {
        #expect(TimestampJSON.read(text) == nil)
    }

    @Test(arguments: 0..<500) func `are read back as written (1_8)`(number: Int64) {
        // From the year 1 to 9999, in steps that cover every month and leap years.
        let time = Timestamp(
            milliseconds: -62_135_596_800_000 + number * 630_720_061_007 % 315_537_811_200_000)
        #expect(TimestampJSON.read(TimestampJSON.text(time)) == time)
    }
}

@Suite struct `A URI component` {
    @Test(arguments: [
        ("ana", "ana"), ("team/42", "team%2F42"), ("a b+c%", "a%20b%2Bc%25"),
        ("-_.!~*'()", "-_.!~*'()"), ("grüß", "gr%C3%BC%C3%9F"), ("🦜", "%F0%9F%A6%9C"),
        ("layer:///x?y#z&=", "layer%3A%2F%2F%2Fx%3Fy%23z%26%3D"), ("", ""),
    ])
    func `it is encoded like encodeURIComponent`(text: String, encoded: String) {
        #expect(URIComponent.encoded(text) == encoded)
    }

    @Test(arguments: ["ana", "team/42", "-_.!~*'()", "grüß 🦜", "100%", ""])
    func `decoding reverses encoding`(text: String) {
        #expect(URIComponent.decoded(URIComponent.encoded(text)) == text)
    }

    @Test func `characters that need no encoding can be encoded (1_7)`() {
        #expect(URIComponent.decoded("%61%6e%61%21%7E") == "ana!~")
    }

    @Test(arguments: ["%", "%4", "a%zz", "%C3", "%ED%A0%80", "%C0%AF"])
    func `invalid escapes and invalid UTF-8 are rejected`(text: String) {
        #expect(URIComponent.decoded(text) == nil)
    }
}
