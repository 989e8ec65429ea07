import HTTP
import Testing

@Suite struct `The Range field` {
    @Test(
        arguments: [
            ("bytes=0-0", .parts([0..<1])),
            ("bytes=0-99", .parts([0..<100])),
            ("bytes=10-500", .parts([10..<501])),
            ("bytes=990-2000", .parts([990..<1000])),
            ("bytes=0-", .parts([0..<1000])),
            ("bytes=999-", .parts([999..<1000])),
            ("bytes=-1", .parts([999..<1000])),
            ("bytes=-5000", .parts([0..<1000])),
            ("BYTES= 1-2 ", .parts([1..<3])),
            ("bytes=1000-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable),
            ("bytes=5000-6000,-0", .unsatisfiable),
            ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=5000-,1-2", .parts([1..<3])),
            ("bytes=2-1", .whole),
            ("bytes=a-b", .whole),
            ("bytes=1", .whole),
            ("bytes=-", .whole),
            ("bytes=", .whole),
            ("items=0-1", .whole),
            ("bytes 0-1", .whole),
            ("bytes=0-1,x", .whole),
        ] as [(String, ByteRanges)])
    func `is parsed as in the table (H107)`(field: String, expected: ByteRanges) {
        #expect(ByteRanges(field, size: 1000, limit: 8) == expected)
    }

    @Test(
        arguments: [
            ("bytes=0-9,200-209", .parts([0..<10, 200..<210])),
            ("bytes=200-209,0-9", .parts([200..<210, 0..<10])),
            ("bytes=0-9,90-99", .parts([0..<100])),
            ("bytes=0-9,91-99", .parts([0..<10, 91..<100])),
            ("bytes=0-9,5-20", .parts([0..<21])),
            ("bytes=0-9,200-209,100-119", .parts([0..<10, 100..<210])),
            ("bytes=0-499,500-999", .whole),
            ("bytes=0-1,100-101,200-201,300-301", .whole),
        ] as [(String, ByteRanges)])
    func `several are merged, kept in order, or too many (H108)`(
        field: String, expected: ByteRanges
    ) {
        #expect(ByteRanges(field, size: 1000, limit: 3) == expected)
    }

    @Test(
        arguments: [
            ("bytes=0-", .unsatisfiable), ("bytes=0-0", .unsatisfiable), ("bytes=-1", .whole),
            ("bytes=-0", .unsatisfiable),
        ] as [(String, ByteRanges)])
    func `of empty content is a special case (H107)`(field: String, expected: ByteRanges) {
        #expect(ByteRanges(field, size: 0, limit: 8) == expected)
    }

    @Test func `is ignored with more than 256 elements (H108)`() {
        let field = "bytes=" + Array(repeating: "0-0", count: 257).joined(separator: ",")
        #expect(ByteRanges(field, size: 1000, limit: 8) == .whole)
    }
}
