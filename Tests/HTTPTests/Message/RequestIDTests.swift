import HTTP
import TestSupport
import Testing

@Suite struct `Request ids` {
    @Test(arguments: 0..<200)
    func `26 characters encode all 128 bits (H205)`(case number: UInt64) {
        var random = SeededGenerator(number)
        let id = RequestID(high: random.next(), low: random.next())
        #expect(id.description.utf8.count == 26)
        #expect(RequestID(base32: id.description) == id)
    }

    @Test(arguments: 0..<200)
    func `later ids sort after earlier ones (H205)`(case number: UInt64) {
        var random = SeededGenerator(number)
        let time = random.next() >> 16
        let earlier = RequestID(high: time << 16 | random.next() & 0xFFFF, low: random.next())
        let later = RequestID(high: (time + 1) << 16 | random.next() & 0xFFFF, low: random.next())
        #expect(earlier.description < later.description)
    }

    @Test(arguments: [
        ("a", true), ("AZaz09._-", true), (String(repeating: "x", count: 64), true),
        (String(repeating: "x", count: 65), false), ("", false), ("a b", false), ("a\"b", false),
        ("a/b", false), ("\u{e9}", false), ("a\tb", false), ("a@b", false), ("a[b", false),
    ]) func `a proxy's id of a request is adopted if it is valid (H205)`(
        name: String, isTaken: Bool
    ) {
        let own = RequestID(high: 1, low: 2)
        let id = ProxyTrust().id(of: Fields([("X-Request-Id", name)]), or: own)
        #expect(id.description == (isTaken ? name : own.description))
        #expect(id == own)
        #expect(ProxyTrust().id(of: Fields([]), or: own).description == own.description)
    }

    @Test func `the smallest and largest id are written correctly`() {
        #expect(RequestID(high: 0, low: 0).description == String(repeating: "0", count: 26))
        #expect(
            RequestID(high: .max, low: .max).description == "7" + String(repeating: "Z", count: 25))
        #expect(RequestID(high: 0, low: 1).description == String(repeating: "0", count: 25) + "1")
        #expect(RequestID(high: 1, low: 0).description == "000000000000" + "0G000000000000")
    }
}

extension RequestID {
    /// Decodes the 26 characters bit by bit, independently of the implementation.
    fileprivate init?(base32 text: String) {
        var bits = [UInt8]()
        for character in text.utf8 {
            guard
                let value = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8).firstIndex(of: character)
            else {
                return nil
            }
            bits += stride(from: 4, through: 0, by: -1).map { shift in UInt8(value >> shift & 1) }
        }
        guard bits.count == 130, bits[0] == 0, bits[1] == 0 else { return nil }
        let word = { (range: Range<Int>) in
            bits[range].reduce(UInt64(0)) { word, bit in word << 1 | UInt64(bit) }
        }
        self.init(high: word(2..<66), low: word(66..<130))
    }
}

@Suite struct `A trace` {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "b7ad6b7169203331"

    private func read(_ lines: String...) -> TraceParent? {
        TraceParent(Fields(lines.map { line in ("traceparent", line) }))
    }

    @Test(
        arguments: [
            ("00-\(trace)-\(parent)-01", 1), ("00-\(trace)-\(parent)-00", 0),
            ("00-\(trace)-\(parent)-ff", 0xFF), ("01-\(trace)-\(parent)-03", 3),
            ("fe-\(trace)-\(parent)-01-what-comes-later", 1),
        ] as [(String, UInt8)]) func `is read from the header (X5)`(line: String, flags: UInt8)
        throws
    {
        let found = try #require(read(line))
        #expect(found.traceID == Self.trace)
        #expect(found.parentID == Self.parent)
        #expect(found.flags == flags)
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-01-more",
        "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)-011", "ff-\(trace)-\(parent)-01",
        "00-\(trace.uppercased())-\(parent)-01", "00-\(trace)-\(parent.uppercased())-01",
        "0-\(trace)-\(parent)-01", "000-\(trace)-\(parent)-01", "00-\(trace)0-\(parent)-01",
        "00-\(String(repeating: "0", count: 32))-\(parent)-01",
        "00-\(trace)-\(String(repeating: "0", count: 16))-01", "00-\(trace)-\(parent)-0g",
        "00-\(trace)-\(parent)-01 ", "00_\(trace)_\(parent)_01", "00--\(trace)-\(parent)-01",
    ]) func `is absent when it is malformed (X5)`(line: String) {
        #expect(read(line) == nil)
    }

    @Test func `is absent when the field is repeated`() {
        let line = "00-\(Self.trace)-\(Self.parent)-01"
        #expect(read(line, line) == nil)
        #expect(read() == nil)
    }
}
