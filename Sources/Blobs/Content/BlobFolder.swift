import CLinux
import Glibc
package import SystemSupport

/// A folder of blobs on the local disk: staged files, which are still being received, and published files,
/// which are complete.
///
/// ```
/// folder/staged/<name>          one file per incomplete upload
/// folder/content/<nn>/<name>    complete and immutable; nn = last two characters of the name
/// ```
///
/// Both are on one file system, so publishing is one rename. Every method blocks on the disk: call it on a
/// ``WorkQueue``.
public struct BlobFolder: Sendable {
    /// The path of the folder.
    public let path: String
    private let staged: Folder
    private let content: Folder

    /// Opens the folder, and creates it and its subfolders where they are missing, accessible only to the
    /// user of this process.
    public init(at path: String) throws(DiskError) {
        self.path = path
        _ = try Folder(making: path)
        staged = try Folder(making: "\(path)/staged")
        content = try Folder(making: "\(path)/content")
    }

    /// The subfolder of a published blob, created if missing. Blobs are spread over subfolders, because many
    /// tools handle a folder with millions of files badly.
    private func subfolder(of name: BlobName) throws(DiskError) -> Folder {
        try Folder(making: content.path(of: subfolderName(of: name)))
    }

    private func subfolderName(of name: BlobName) -> String { String(name.text.suffix(2)) }

    // MARK: Staged files

    /// Opens the staged file with a name; creates an empty one if there is none.
    ///
    /// The name becomes durable with the file's first commit, not before: an upload without bytes needs no
    /// file.
    public func stage(_ name: BlobName) throws(DiskError) -> StagedFile {
        let path = staged.path(of: name.text)
        do throws(DiskError) {
            return try StagedFile(
                FileDescriptor(opening: path, O_RDWR), at: path, isNew: false, in: staged)
        } catch {
            if error.kind != .missing { throw error }
        }
        let made = try FileDescriptor(opening: path, O_RDWR | O_CREAT)
        return try StagedFile(made, at: path, isNew: true, in: staged)
    }

    /// Opens a staged file for reading, with its current size.
    ///
    /// - Throws: ``DiskError/Kind/missing`` when no staged file has this name.
    public func openStaged(_ name: BlobName) throws(DiskError) -> BlobFile {
        try BlobFile(FileDescriptor(opening: staged.path(of: name.text), O_RDONLY))
    }

    /// The size of a staged file in bytes; `nil` when there is none.
    public func stagedSize(_ name: BlobName) throws(DiskError) -> Int64? {
        do throws(DiskError) {
            return try staged.entry(name.text).size
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    /// All staged files, in no particular order. Recovery compares them with the upload records.
    public func stagedEntries() throws(DiskError) -> [FolderEntry] { try staged.entries() }

    /// Deletes a staged file; does nothing when there is none.
    public func discard(_ name: BlobName) throws(DiskError) { try staged.remove(name.text) }

    /// Creates an empty file without a name: the kernel deletes it with the last descriptor, also after a
    /// crash.
    ///
    /// - Parameter name: The name it has until it is unlinked; it must not be in use.
    public func makeUnlinkedFile(_ name: BlobName) throws(DiskError) -> StagedFile {
        let file = try stage(name)
        try discard(name)
        return file
    }

    /// Moves a committed staged file to the published files, durably.
    ///
    /// It may be repeated, also after a crash in the middle: for a file that has already been moved, only the
    /// folders are synced again.
    ///
    /// - Parameter other: The name of the staged file; `nil` if it is the same.
    /// - Throws: ``DiskError/Kind/missing`` when the name is neither staged nor published.
    public func publish(_ name: BlobName, stagedAs other: BlobName? = nil) throws(DiskError) {
        let target = try subfolder(of: name)
        do throws(DiskError) {
            try staged.rename((other ?? name).text, into: target, as: name.text)
        } catch {
            guard error.kind == .missing, try target.contains(name.text) else { throw error }
        }
        try target.sync()
        try staged.sync()
    }

    /// Frees the disk space of the leading bytes of a staged file; from then on they read as zeros.
    ///
    /// The file keeps its size, and the bytes after them keep their positions. Does nothing when there is no such
    /// file, or when the file system cannot do it; the space is then freed with the file.
    public func releaseSpace(of name: BlobName, upTo end: Int64) throws(DiskError) {
        do throws(DiskError) {
            let file = try FileDescriptor(opening: staged.path(of: name.text), O_RDWR)
            try systemCall("fallocate") {
                fallocate(
                    file.number, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, Int(end))
            }
        } catch {
            guard error.kind == .missing || [EOPNOTSUPP, ENOSYS].contains(error.code) else {
                throw error
            }
        }
    }

    // MARK: Published files

    /// Opens a published blob for reading.
    ///
    /// - Throws: ``DiskError/Kind/missing`` when no published blob has this name.
    public func open(_ name: BlobName) throws(DiskError) -> BlobFile {
        let path = "\(content.path)/\(subfolderName(of: name))/\(name)"
        return try BlobFile(FileDescriptor(opening: path, O_RDONLY))
    }

    /// The path of a published blob, for programs that read it by themselves.
    public func path(of name: BlobName) -> String {
        "\(content.path)/\(subfolderName(of: name))/\(name)"
    }

    /// All published blobs, in no particular order.
    public func entries() throws(DiskError) -> [FolderEntry] {
        var entries: [FolderEntry] = []
        for subfolder in try content.names() {
            entries += try content.subfolder(subfolder).entries()
        }
        return entries
    }

    /// Gives a file outside of this folder a second name as a published blob, durably; no byte is copied.
    ///
    /// - Throws: ``DiskError`` where the file system cannot do it, for instance because it is another one.
    public func link(_ path: String, as name: BlobName) throws(DiskError) {
        let target = try subfolder(of: name)
        try FileDescriptor(opening: path, O_RDONLY).sync()
        try target.link(path, as: name.text)
        try target.sync()
    }

    /// Whether a published blob has this name.
    public func contains(_ name: BlobName) throws(DiskError) -> Bool {
        try content.contains("\(subfolderName(of: name))/\(name)")
    }

    /// Deletes a published blob durably; does nothing when there is none. Open readers can read on.
    ///
    /// - Returns: The number of bytes that are free now, or when the last reader closes the file.
    public func deleteDurably(_ name: BlobName) throws(DiskError) -> Int64 {
        let folder = try subfolder(of: name)
        let size: Int64
        do throws(DiskError) {
            size = try folder.entry(name.text).size
        } catch {
            guard error.kind == .missing else { throw error }
            size = 0
        }
        try folder.remove(name.text)
        try folder.sync()
        return size
    }

    /// Deletes a published blob; does nothing when there is none. Open readers can read on.
    public func delete(_ name: BlobName) throws(DiskError) {
        try content.remove("\(subfolderName(of: name))/\(name)")
    }

    // MARK: Free space

    /// The size and the free space of the volume (`statvfs`).
    public func freeSpace() throws(DiskError) -> FreeSpace {
        var volume = statvfs()
        try systemCall("statvfs") { unsafe path.withCString { unsafe statvfs($0, &volume) } }
        // A size above 63 bits is reported as the largest number.
        let block = UInt64(volume.f_frsize)
        return FreeSpace(
            available: bytes(UInt64(volume.f_bavail), of: block),
            total: bytes(UInt64(volume.f_blocks), of: block))
    }

    private func bytes(_ count: UInt64, of block: UInt64) -> Int64 {
        let (product, overflow) = count.multipliedReportingOverflow(by: block)
        return overflow ? .max : Int64(clamping: product)
    }
}

/// The size and the free space of a volume.
public struct FreeSpace: Sendable, Equatable {
    /// The number of free bytes that this process can use.
    public let available: Int64
    /// The number of bytes of the volume.
    public let total: Int64
}

/// A fixed number of work queues, so that many uploads need few threads.
package struct WorkQueuePool: Sendable {
    private let queues: [WorkQueue]

    /// Creates `count` queues, at least one.
    package init(_ label: String, count: Int) {
        queues = (0..<max(1, count)).map { number in WorkQueue("\(label).\(number)") }
    }

    /// The queue of a file: always the same one, so that the work on a file stays in order.
    package subscript(name: BlobName) -> WorkQueue {
        // The last characters of a name are random, so they spread the files evenly.
        let sum = name.text.utf8.suffix(8).reduce(0) { sum, byte in sum &* 31 &+ Int(byte) }
        return queues[abs(sum) % queues.count]
    }
}
