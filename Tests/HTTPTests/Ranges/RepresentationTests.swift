import HTTP
import TestSupport
import Testing

@Suite struct `A representation` {
    private static let tag = EntityTag(opaque: "t")
    private let whole = Representation(size: 1000, tag: tag, modified: 784_111_777)

    private func select(
        _ fields: [(name: String, value: String)], _ method: Method = .get
    ) -> Representation.Selection {
        let request = Request(
            method: method, target: RequestTarget("/"), fields: Fields(fields))
        return whole.selection(for: request, at: 1_700_000_000)
    }

    @Test(
        arguments: [
            ([], .whole),
            ([("Range", "bytes=0-1")], .parts([0..<2])),
            ([("Range", "bytes=0-1,500-501")], .parts([0..<2, 500..<502])),
            ([("Range", "bytes=1000-")], .unsatisfiable),
            ([("Range", "pages=1")], .whole),
            ([("Range", "bytes=0-1"), ("Range", "bytes=2-3")], .whole),
            ([("If-Range", "\"t\""), ("Range", "bytes=0-1")], .parts([0..<2])),
            ([("If-Range", "\"x\""), ("Range", "bytes=0-1")], .whole),
            ([("If-Range", "\"x\""), ("Range", "bytes=1000-")], .whole),
            ([("If-Match", "\"x\""), ("Range", "bytes=0-1")], .failed),
            ([("If-None-Match", "\"t\""), ("Range", "bytes=1000-")], .notModified),
        ] as [([(name: String, value: String)], Representation.Selection)])
    func `is selected by conditions first, then by range (H100, H106, H107)`(
        fields: [(name: String, value: String)], selection: Representation.Selection
    ) {
        #expect(select(fields) == selection)
    }

    @Test(arguments: [Method.head, .post, .put, .patch, .delete])
    func `has ranges for GET only (H99, H106)`(method: Method) {
        #expect(select([("Range", "bytes=0-1")], method) == .whole)
        #expect(select([("Range", "bytes=1000-")], method) == .whole)
    }

    @Test func `allows 32 ranges (H108)`() {
        func field(_ count: Int) -> String {
            let words = (0..<count).map { number in "\(number * 500)-\(number * 500)" }
            return "bytes=" + words.joined(separator: ",")
        }
        let large = Representation(size: 1 << 20, tag: Self.tag, modified: 0)
        func select(_ count: Int) -> Representation.Selection {
            let request = Request(
                method: .get, target: RequestTarget("/"),
                fields: Fields([("Range", field(count))]))
            return large.selection(for: request, at: 0)
        }
        let offsets: [Int64] = (0..<32).map { number in number * 500 }
        #expect(select(32) == .parts(offsets.map { offset in offset..<offset + 1 }))
        #expect(select(33) == .whole)
    }

    @Test(arguments: 0..<500)
    func `never sends more than its size, whatever is requested (H108)`(case number: UInt64) {
        var random = SeededGenerator(number)
        let size = Int64(random.number(0...3000))
        let words = (0..<random.number(1...12)).map { _ in
            switch random.number(0...2) {
            case 0: "-\(random.number(0...4000))"
            case 1: "\(random.number(0...4000))-"
            default: "\(random.number(0...2000))-\(random.number(1000...4000))"
            }
        }
        let field = "bytes=" + words.joined(separator: ",")
        guard case .parts(let ranges) = ByteRanges(field, size: size, limit: 32) else { return }
        let all = 0..<size
        var total: Int64 = 0
        for range in ranges {
            #expect(!range.isEmpty && range.clamped(to: all) == range)
            total += Int64(range.count)
        }
        #expect(total <= size)
        let ends = ranges.sorted { one, other in one.lowerBound < other.lowerBound }
            .flatMap { range in [range.lowerBound, range.upperBound] }
        #expect(ends == ends.sorted(), "none overlaps another")
    }
}
