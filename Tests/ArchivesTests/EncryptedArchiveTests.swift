import TestSupport
import Testing

@testable import Archives

@Suite struct `An encrypted archive` {
    private let key = (0..<32).map { UInt8($0) }
    private let vector = (100..<116).map { UInt8($0) }

    @Test(arguments: [0, 1, 511, 512, 513, 100_000])
    func `can be opened with openssl and tar`(size: Int) throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let whole = encrypt(content, pieces: [content])
        #expect(try decryptedArchive(whole, key: key, initialVector: vector) == content)
    }

    @Test func `does not depend on the lengths of the pieces`() throws {
        let content = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let pieces = stride(from: 0, to: content.count, by: 113).map { start in
            Array(content[start..<min(start + 113, content.count)])
        }
        let cut = encrypt(content, pieces: pieces)
        #expect(try decryptedArchive(cut, key: key, initialVector: vector) == content)
    }

    @Test func `writes sizes beyond 8 GiB in base 256`() {
        let header = TarHeader(name: "x", size: 1 << 33, modifiedAt: 0).bytes
        #expect(header[124..<136].elementsEqual([0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]))
        let small = TarHeader(name: "x", size: (1 << 33) - 1, modifiedAt: 0).bytes
        #expect(String(decoding: small[124..<135], as: UTF8.self) == "77777777777")
    }

    private func encrypt(_ content: [UInt8], pieces: [[UInt8]]) -> [UInt8] {
        let archive = EncryptedArchive(
            name: "export.json", size: Int64(content.count), modifiedAt: 1_772_356_530, key: key,
            initialVector: vector)
        return archive.begin() + pieces.flatMap { piece in archive.append(piece) }
            + archive.finish()
    }
}
