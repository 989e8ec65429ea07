import TestSupport
import Testing

@testable import Archives

@Suite struct `A sealed archive` {
    private let key = (0..<32).map { UInt8($0) }
    private let vector = (100..<116).map { UInt8($0) }

    @Test(arguments: [0, 1, 511, 512, 513, 100_000])
    func `is what openssl and tar open`(size: Int) throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let whole = seal(content, pieces: [content])
        #expect(try unpacked(whole, key: key, initialVector: vector) == content)
    }

    @Test func `does not depend on how the bytes come`() throws {
        let content = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let pieces = stride(from: 0, to: content.count, by: 113).map { start in
            Array(content[start..<min(start + 113, content.count)])
        }
        let cut = seal(content, pieces: pieces)
        #expect(try unpacked(cut, key: key, initialVector: vector) == content)
    }

    @Test func `says sizes beyond 8 GiB in base 256`() {
        let header = TarHeader(name: "x", size: 1 << 33, modifiedAt: 0).bytes
        #expect(header[124..<136].elementsEqual([0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]))
        let small = TarHeader(name: "x", size: (1 << 33) - 1, modifiedAt: 0).bytes
        #expect(String(decoding: small[124..<135], as: UTF8.self) == "77777777777")
    }

    private func seal(_ content: [UInt8], pieces: [[UInt8]]) -> [UInt8] {
        let archive = SealedArchive(
            name: "export.json", size: Int64(content.count), modifiedAt: 1_772_356_530, key: key,
            initialVector: vector)
        return archive.begin() + pieces.flatMap { piece in archive.append(piece) }
            + archive.finish()
    }
}
