import ObjectStore
import Testing

@testable import Uploads

@Suite struct `What of an upload any process finds` {
    private func held(_ length: Int64 = 1 << 31) -> HeldParts {
        HeldParts(partSize: 8 << 20, longest: length)
    }

    private func part(_ number: Int, of held: HeldParts) -> ObjectPart {
        ObjectPart(number: number, size: held.partSize, tag: "\"a b\"")
    }

    @Test func `is read as it was written (10.5)`() throws {
        var held = held()
        #expect(HeldParts(held.bytes) == held)
        held.upload = "u"
        held.append(part(7, of: held))
        held.append(ObjectPart(number: 40, size: 5, tag: "\"b\""))
        held.pieces = [HeldParts.Piece(range: 100..<200, id: "x-_9")]
        #expect(HeldParts(held.bytes) == held)
        #expect(held.base == 8 << 20 + 5)
        var record = UploadRecord(
            House.draft(length: 9), creation: .tus, at: 0, lives: 1)
        record.held = held
        #expect(UploadRecord(record.bytes)?.held == held)
    }

    @Test func `loses the pieces that a part holds, and no other (10.5)`() {
        var held = held()
        held.pieces = [
            HeldParts.Piece(range: 0..<5, id: "a"),
            HeldParts.Piece(range: 5..<8 << 20, id: "b"),
            HeldParts.Piece(range: 8 << 20 - 1..<9 << 20, id: "c"),
        ]
        held.append(part(1, of: held))
        #expect(held.pieces.map(\.id) == ["c"])
        #expect(held.end == 9 << 20)
    }

    @Test(arguments: [1, 8 << 20, 20 << 20, 1 << 31, 1 << 40] as [Int64])
    func `has a number for every part and every version, each behind the last (10.2)`(
        length: Int64
    ) {
        let size = PartSize.of(length, atMost: length)
        var held = HeldParts(partSize: size, longest: length)
        let count = min(40, (length + size - 1) / size)
        for place in 0..<count {
            let numbers = (0..<Int64(held.stride)).map { version in held.nextNumber(version) }
            #expect(Set(numbers).count == held.stride)
            #expect(numbers.min() == Int(place) * held.stride + 1)
            #expect((numbers.max() ?? 0) <= Int(place + 1) * held.stride)
            held.append(ObjectPart(number: numbers[0], size: size, tag: "t"))
        }
        #expect(Int((length + size - 1) / size) * held.stride <= ObjectPart.mostParts)
    }

    @Test(arguments: [("x", ""), ("1 2", ""), ("1 2 t\n3", ""), ("", "5 2 t"), ("", "y")])
    func `is not taken from what is something else`(parts: String, pieces: String) {
        var row = TaggedBytes()
        row.add(2, Int64(8))
        row.add(3, Int64(1))
        row.add(4, parts)
        row.add(5, pieces)
        #expect(HeldParts(row.bytes) == nil)
        #expect(HeldParts([1]) == nil)
    }
}
