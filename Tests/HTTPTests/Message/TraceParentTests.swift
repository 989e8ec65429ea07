import HTTP
import Testing

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
        ] as [(String, UInt8)]) func `is read as the caller says (X5)`(line: String, flags: UInt8)
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
    ]) func `is none when it cannot be read (X5)`(line: String) {
        #expect(read(line) == nil)
    }

    @Test func `is none when there are two`() {
        let line = "00-\(Self.trace)-\(Self.parent)-01"
        #expect(read(line, line) == nil)
        #expect(read() == nil)
    }
}
