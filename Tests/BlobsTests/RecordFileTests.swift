import Blobs
import Glibc
import TestSupport
import Testing

@Suite struct `A record file` {
    private let temporary = TemporaryFolder()
    private let folder: RecordFolder
    private let name: BlobName

    init() throws {
        folder = try RecordFolder(at: temporary.path)
        name = try #require(BlobName("record"))
    }

    /// Overwrites bytes of the file, as an interrupted write would.
    private func damage(at position: Int, count: Int) {
        let descriptor = open("\(temporary.path)/record", O_RDWR)
        let garbage = [UInt8](repeating: 0xAA, count: count)
        _ = garbage.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, position) }
        close(descriptor)
    }

    @Test func `the last payload is read back`() throws {
        let record = try folder.create(name, [1])
        for number in UInt8(2)...9 { try record.write([number]) }
        #expect(try folder.open(name).payload == [9])
    }

    @Test(arguments: [0, 16_384], [1, 20, 25])
    func `an interrupted write of one slot leaves the other valid (11.1)`(slot: Int, count: Int)
        throws
    {
        let record = try folder.create(name, [1, 1, 1, 1, 1])
        try record.write([2, 2, 2, 2, 2])
        damage(at: slot, count: count)
        let expected: UInt8 = slot == 0 ? 1 : 2
        #expect(try folder.open(name).payload == [UInt8](repeating: expected, count: 5))
    }

    @Test func `a record with a damaged slot overwrites that slot next`() throws {
        let record = try folder.create(name, [1])
        try record.write([2])
        try record.write([3])
        damage(at: 16_384, count: 30)
        let reopened = try folder.open(name)
        try reopened.write([4])
        #expect(try folder.open(name).payload == [4])
    }

    @Test func `a record without a valid slot throws damaged`() throws {
        _ = try folder.create(name, [1])
        damage(at: 16_384, count: 30)
        #expect {
            _ = try folder.open(name)
        } throws: { error in
            (error as? DiskError)?.kind == .damaged
        }
    }

    @Test func `a name can be created only once`() throws {
        _ = try folder.create(name, [1])
        #expect {
            _ = try folder.create(name, [2])
        } throws: { error in
            (error as? DiskError)?.kind == .exists
        }
        #expect(try folder.open(name).payload == [1])
    }

    @Test func `a payload larger than a slot is rejected and the former one stays`() throws {
        let record = try folder.create(name, [1])
        #expect(throws: DiskError.self) {
            try record.write([UInt8](repeating: 0, count: RecordFile.capacity + 1))
        }
        #expect(try folder.open(name).payload == [1])
    }
}

@Suite struct `A secret file` {
    private let temporary = TemporaryFolder()

    @Test func `is readable only by its owner and replaced as a whole`() throws {
        let name = try #require(BlobName("keys"))
        let file = try SecretFile(folder: temporary.path, name: name)
        #expect(try file.read() == nil)
        try file.write([1, 2])
        try file.write([3])
        #expect(try file.read() == [3])
        var status = stat()
        #expect(stat("\(temporary.path)/keys", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }
}
