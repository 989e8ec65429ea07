import ObjectStore
import Testing

@testable import Uploads

@Suite struct `Parts of a content` {
    private let mebibyte: Int64 = 1 << 20

    @Test(
        arguments: [
            (0, 8), (1, 8), (8, 8), (70_000, 8), (72_000, 8), (72_001, 9), (81_000, 9),
            (5 << 20, 583), (nil, 16),
        ] as [(Int64?, Int64)])
    func `are as long as their number allows, in whole MiB (10.2)`(length: Int64?, size: Int64) {
        let chosen = PartSize.of(length.map { $0 * mebibyte }, atMost: 1 << 31)
        #expect(chosen == size * mebibyte)
    }

    @Test func `suffice for a length that is not known yet, whatever it becomes (10.2)`() {
        #expect(PartSize.of(nil, atMost: 9000 * 16 * mebibyte + 1) == 17 * mebibyte)
        for length in [1, 1 << 31, 1 << 40, 5 << 40] as [Int64] {
            let size = PartSize.of(length, atMost: 5 << 40)
            #expect((length + size - 1) / size <= 10_000)
        }
    }

    @Test func `are read from a journal as they were written (10.5)`() throws {
        var parts = MovedParts(upload: "an upload / ä", partSize: 8 * mebibyte)
        let journal = [parts.head] + ["\"a\"", "\"b\""].map(MovedParts.entry)
        parts.append("\"a\"")
        parts.append("\"b\"")
        #expect(MovedParts(journal) == parts)
        #expect(parts.end == 16 * mebibyte)
        let last = try #require(parts.parts(of: 16 * mebibyte - 1).last)
        #expect(last == ObjectPart(number: 2, size: 8 * mebibyte - 1, tag: "\"b\""))
        #expect(MovedParts([]) == nil)
        #expect(MovedParts([[2] + parts.head.dropFirst()]) == nil)
        #expect(MovedParts([parts.head, [0xFF]]) == nil)
    }
}
