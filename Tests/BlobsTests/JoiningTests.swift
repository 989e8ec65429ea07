import Glibc
import TestSupport
import Testing

@testable import Blobs

@Suite struct `Joining staged files` {
    private let temporary = TemporaryFolder()
    private let folder: BlobFolder
    private let whole: BlobName
    private let part: BlobName

    init() throws {
        folder = try BlobFolder(at: "\(temporary.path)/blobs")
        whole = try #require(BlobName("whole"))
        part = try #require(BlobName("part"))
    }

    private func stage(_ bytes: [UInt8]) throws {
        let file = try folder.stage(part)
        try file.write(bytes.span, at: 0)
        try file.commit()
    }

    @Test func `ranges are copied to the given positions, also repeatedly (10.6)`() throws {
        try stage([1, 2, 3, 4])
        let (file, source) = (try folder.stage(whole), try folder.openStaged(part))
        try file.copy(0..<4, of: source, to: 0)
        try file.copy(1..<3, of: source, to: 4)
        try file.commit()
        #expect(try file.read(10, at: 0) == [1, 2, 3, 4, 2, 3])
    }

    @Test(arguments: [true, false])
    func `copying inside the kernel and inside the process gives the same bytes (10.6)`(
        inKernel: Bool
    ) throws {
        let bytes = (0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        try stage(bytes)
        let source = try folder.openStaged(part)
        let target = try FileDescriptor(opening: "\(temporary.path)/copy", O_RDWR | O_CREAT)
        try target.copy(
            5..<9_999_999, of: source.descriptor, to: 3, inKernel: inKernel)
        #expect(try target.read(10_000_000, at: 3) == Array(bytes[5..<9_999_999]))
        #expect(try target.size() == 9_999_997)
    }

    @Test(arguments: [true, false])
    func `a source that is too short throws damaged (11.2)`(inKernel: Bool) throws {
        try stage([1, 2, 3])
        let source = try folder.openStaged(part)
        let target = try FileDescriptor(opening: "\(temporary.path)/copy", O_RDWR | O_CREAT)
        let error = #expect(throws: DiskError.self) {
            try target.copy(0..<4, of: source.descriptor, to: 0, inKernel: inKernel)
        }
        #expect(error?.kind == .damaged)
    }

    @Test func `a name that is not staged cannot be opened, and no file is created`() throws {
        let error = #expect(throws: DiskError.self) { _ = try folder.openStaged(part) }
        #expect(error?.kind == .missing)
        #expect(try folder.stagedEntries().isEmpty)
    }
}
