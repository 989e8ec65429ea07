import Blobs
import TestSupport
import Testing

@Suite struct `A folder of blobs` {
    private let temporary = TemporaryFolder()
    private let folder: BlobFolder
    private let name: BlobName

    init() throws {
        folder = try BlobFolder(at: "\(temporary.path)/blobs")
        name = try #require(BlobName("0190aa-blob"))
    }

    private func stage(_ bytes: [UInt8]) throws {
        let file = try folder.stage(name)
        try file.write(bytes.span, at: 0)
        try file.commit()
    }

    @Test func `a published file is read back`() throws {
        try stage([1, 2, 3])
        try folder.publish(name)
        let blob = try folder.open(name)
        #expect(try blob.read(10, at: 1) == [2, 3])
        #expect(blob.size == 3)
    }

    @Test func `publishing a second time changes nothing (11.1)`() throws {
        try stage([1, 2, 3])
        try folder.publish(name)
        try folder.publish(name)
        #expect(try folder.open(name).size == 3)
        #expect(try folder.stagedSize(name) == nil)
    }

    @Test func `a file elsewhere gets a second name without a copy`() throws {
        let outside = try BlobFolder(at: "\(temporary.path)/outside")
        let file = try outside.stage(name)
        try file.write([1, 2, 3].span, at: 0)
        try file.commit()
        try outside.publish(name)
        try folder.link(outside.path(of: name), as: name)
        #expect(throws: DiskError.self) { try folder.link(outside.path(of: name), as: name) }
        try outside.delete(name)
        #expect(try BlobFile(at: folder.path(of: name)).read(10, at: 0) == [1, 2, 3])
    }

    @Test func `published files are listed, staged ones are not`() throws {
        try stage([1, 2, 3])
        #expect(try folder.entries().isEmpty)
        try folder.publish(name)
        #expect(try folder.entries().map(\.name) == [name.text])
        #expect(try folder.entries().map(\.size) == [3])
    }

    @Test func `publishing a name that was never staged is an error`() {
        #expect(throws: DiskError.self) { try folder.publish(name) }
    }

    @Test func `a deleted blob stays readable for open readers (9.1)`() throws {
        try stage([1, 2, 3])
        try folder.publish(name)
        let blob = try folder.open(name)
        try folder.delete(name)
        #expect(try blob.read(3, at: 0) == [1, 2, 3])
        #expect(try !folder.contains(name))
    }

    @Test func `truncating a staged file removes the bytes behind the new end`() throws {
        try stage([1, 2, 3, 4])
        let file = try folder.stage(name)
        try file.truncate(to: 2)
        try file.write([9].span, at: 2)
        try file.commit()
        #expect(try file.read(10, at: 0) == [1, 2, 9])
    }

    @Test func `reserved space leaves the size unchanged and is freed by truncating (11.7)`() throws
    {
        let file = try folder.stage(name)
        try file.write([1, 2, 3].span, at: 0)
        #expect(try file.reserve(3..<(4 << 20)))
        try file.commit()
        let reserved = try #require(try folder.stagedEntries().first)
        #expect(reserved.size == 3)
        #expect(reserved.allocated >= 4 << 20)
        try file.truncate(to: 2)
        #expect(try folder.stagedEntries().first?.allocated ?? 0 < 1 << 20)
    }

    @Test func `a file longer than the write-back window keeps every byte`() throws {
        let file = try folder.stage(name)
        let chunk = [UInt8](repeating: 7, count: 5 << 20)
        for number in 0..<9 {
            try file.write(chunk.span, at: Int64(number * chunk.count))
        }
        try file.commit()
        #expect(try file.size() == Int64(9 * chunk.count))
        #expect(try file.read(2, at: Int64(9 * chunk.count - 1)) == [7])
    }

    @Test func `opening an unknown name throws missing`() {
        #expect {
            _ = try folder.open(name)
        } throws: { error in
            (error as? DiskError)?.kind == .missing
        }
    }

    @Test func `a folder is created with its parents`() throws {
        let deep = try BlobFolder(at: "\(temporary.path)/a/b/c")
        #expect(try deep.stagedEntries().isEmpty)
    }

    @Test func `the volume reports its free space`() throws {
        let space = try folder.freeSpace()
        #expect(space.available > 0)
        #expect(space.total >= space.available)
    }
}

@Suite struct `The name of a blob` {
    @Test(arguments: ["a", "0190-ab", String(repeating: "z", count: 64)])
    func `lower-case letters, digits and dashes are accepted`(text: String) {
        #expect(BlobName(text)?.text == text)
    }

    @Test(arguments: [
        "", "-a", "A", "a/b", "..", ".", "a.b", "a\u{0}", "ä", String(repeating: "z", count: 65),
    ])
    func `a name that could leave the folder is rejected`(text: String) {
        #expect(BlobName(text) == nil)
    }
}
