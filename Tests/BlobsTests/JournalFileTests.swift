import Blobs
import Glibc
import TestSupport
import Testing

@Suite struct `A journal` {
    private let temporary = TemporaryFolder()
    private let folder: JournalFolder
    private let name: BlobName

    init() throws {
        folder = try JournalFolder(at: temporary.path)
        name = try #require(BlobName("journal"))
    }

    @Test func `returns its entries in the order they were appended`() throws {
        #expect(try folder.open(name) == nil)
        let journal = try folder.begin(name, [1])
        for number in UInt8(2)...9 { try journal.append([number, number]) }
        try journal.append([])
        let entries = [[1]] + (UInt8(2)...9).map { [$0, $0] } + [[]]
        #expect(journal.entries == entries)
        #expect(try folder.open(name)?.entries == entries)
        #expect(throws: DiskError.self) { try folder.begin(name, [7]) }
        try folder.delete(name)
        try folder.delete(name)
        #expect(try folder.open(name) == nil)
    }

    @Test(arguments: 0..<12)
    func `loses only a partly written entry, and appends the next in its place (11.1)`(
        remaining: Int
    ) throws {
        let journal = try folder.begin(name, [1, 2, 3, 4])
        try journal.append([5, 6, 7, 8])
        truncate("\(temporary.path)/journal", 12 + remaining)
        let reopened = try #require(try folder.open(name))
        #expect(reopened.entries == [[1, 2, 3, 4]])
        try reopened.append([9])
        #expect(try folder.open(name)?.entries == [[1, 2, 3, 4], [9]])
    }

    @Test func `ends at the first entry with a wrong checksum`() throws {
        let journal = try folder.begin(name, [1, 2, 3, 4])
        try journal.append([5, 6, 7, 8])
        let file = open("\(temporary.path)/journal", O_WRONLY)
        _ = [UInt8(0xEE)].withUnsafeBytes { pwrite(file, $0.baseAddress, 1, 10) }
        close(file)
        #expect(try folder.open(name)?.entries == [])
    }

    @Test func `does not read zeros as an entry`() throws {
        _ = try folder.begin(name, [1])
        truncate("\(temporary.path)/journal", 4096)
        #expect(try folder.open(name)?.entries == [[1]])
    }

    @Test func `releasing the space of leading bytes leaves the rest at its position (10.5)`()
        throws
    {
        let blobs = try BlobFolder(at: "\(temporary.path)/blobs")
        let file = try blobs.stage(name)
        try file.write([UInt8](repeating: 7, count: 1 << 20).span, at: 0)
        try file.commit()
        try blobs.releaseSpace(of: name, upTo: 1 << 19)
        #expect(try blobs.stagedSize(name) == 1 << 20)
        #expect(try file.read(2, at: (1 << 19) - 1) == [0, 7])
        var status = stat()
        #expect(stat("\(temporary.path)/blobs/staged/journal", &status) == 0)
        #expect(status.st_blocks * 512 <= 1 << 19)
        try blobs.releaseSpace(of: #require(BlobName("other")), upTo: 1)
    }
}
