import ObjectStore
import Testing

@testable import Uploads

@Suite struct `The stored parts of an upload` {
    private func held(_ length: Int64 = 1 << 31) -> StoredParts {
        StoredParts(partSize: 8 << 20, longest: length)
    }

    private func part(_ number: Int, of held: StoredParts) -> ObjectPart {
        ObjectPart(number: number, size: held.partSize, tag: "\"a b\"")
    }

    @Test func `are decoded as they were encoded (10.5)`() throws {
        var held = held()
        #expect(StoredParts(held.bytes) == held)
        held.upload = "u"
        held.append(part(7, of: held))
        held.append(ObjectPart(number: 40, size: 5, tag: "\"b\""))
        held.pieces = [StoredParts.Piece(range: 100..<200, id: "x-_9")]
        #expect(StoredParts(held.bytes) == held)
        #expect(held.base == 8 << 20 + 5)
        var record = UploadRecord(
            UploadFixture.draft(length: 9), creation: .tus, at: 0, lifetime: 1)
        record.held = held
        #expect(UploadRecord(record.bytes)?.held == held)
    }

    @Test func `drop the pieces that a part contains, and no others (10.5)`() {
        var held = held()
        held.pieces = [
            StoredParts.Piece(range: 0..<5, id: "a"),
            StoredParts.Piece(range: 5..<8 << 20, id: "b"),
            StoredParts.Piece(range: 8 << 20 - 1..<9 << 20, id: "c"),
        ]
        held.append(part(1, of: held))
        #expect(held.pieces.map(\.id) == ["c"])
        #expect(held.end == 9 << 20)
    }

    @Test(arguments: [1, 8 << 20, 20 << 20, 1 << 31, 1 << 40] as [Int64])
    func `have a growing number for every part and every version (10.2)`(
        length: Int64
    ) {
        let size = PartSize.of(length, atMost: length)
        var held = StoredParts(partSize: size, longest: length)
        let count = min(40, (length + size - 1) / size)
        for index in 0..<count {
            let numbers = (0..<Int64(held.stride)).map { version in held.nextNumber(version) }
            #expect(Set(numbers).count == held.stride)
            #expect(numbers.min() == Int(index) * held.stride + 1)
            #expect((numbers.max() ?? 0) <= Int(index + 1) * held.stride)
            held.append(ObjectPart(number: numbers[0], size: size, tag: "t"))
        }
        #expect(Int((length + size - 1) / size) * held.stride <= ObjectPart.maximumPartCount)
    }

    @Test(arguments: [("x", ""), ("1 2", ""), ("1 2 t\n3", ""), ("", "5 2 t"), ("", "y")])
    func `are not decoded from malformed text`(parts: String, pieces: String) {
        var row = TaggedBytes()
        row.add(2, Int64(8))
        row.add(3, Int64(1))
        row.add(4, parts)
        row.add(5, pieces)
        #expect(StoredParts(row.bytes) == nil)
        #expect(StoredParts([1]) == nil)
    }
}

@Suite struct `The parts of a content` {
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

    @Test func `suffice for any length when it is not known yet (10.2)`() {
        #expect(PartSize.of(nil, atMost: 9000 * 16 * mebibyte + 1) == 17 * mebibyte)
        for length in [1, 1 << 31, 1 << 40, 5 << 40] as [Int64] {
            let size = PartSize.of(length, atMost: 5 << 40)
            #expect((length + size - 1) / size <= 10_000)
        }
    }

    @Test func `are read from a journal as they were written (10.5)`() throws {
        var parts = JournaledParts(upload: "an upload / ä", partSize: 8 * mebibyte)
        let journal = [parts.head] + ["\"a\"", "\"b\""].map(JournaledParts.entry)
        parts.append("\"a\"")
        parts.append("\"b\"")
        #expect(JournaledParts(journal) == parts)
        #expect(parts.end == 16 * mebibyte)
        let last = try #require(parts.parts(of: 16 * mebibyte - 1).last)
        #expect(last == ObjectPart(number: 2, size: 8 * mebibyte - 1, tag: "\"b\""))
        #expect(JournaledParts([]) == nil)
        #expect(JournaledParts([[2] + parts.head.dropFirst()]) == nil)
        #expect(JournaledParts([parts.head, [0xFF]]) == nil)
    }
}
