import CLinux
import Glibc
package import SystemSupport

/// Blobs on the local disk: what is still arriving, and what is complete.
///
/// ```
/// folder/staged/<name>          one file per upload that is not complete
/// folder/content/<nn>/<name>    complete and immutable; nn = last two characters of the name
/// ```
///
/// Both lie on one file system, so publishing is one rename. Every method waits for the disk: call
/// it on a ``WorkQueue``.
public struct BlobFolder: Sendable {
    /// Where everything lies.
    public let path: String
    let staged: Folder
    let content: Folder

    /// Takes the folder, making what is missing, private to this process's user.
    public init(at path: String) throws(DiskError) {
        self.path = path
        _ = try Folder(making: path)
        staged = try Folder(making: "\(path)/staged")
        content = try Folder(making: "\(path)/content")
    }

    /// The shelf of a published blob; spread, because tools choke on one folder of millions.
    func shelf(_ name: BlobName) throws(DiskError) -> Folder {
        try Folder(making: content.path(of: shelfName(name)))
    }

    func shelfName(_ name: BlobName) -> String { String(name.text.suffix(2)) }
}

extension BlobFolder {
    /// Opens the staged file of a name, making an empty one where there is none.
    ///
    /// The name is made durable with the file's first commit, not before: an upload without a
    /// byte needs no file.
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

    /// Opens a staged file for reading, as it is.
    ///
    /// - Throws: ``DiskError/Kind/missing`` when nothing of that name is staged.
    public func openStaged(_ name: BlobName) throws(DiskError) -> BlobFile {
        try BlobFile(FileDescriptor(opening: staged.path(of: name.text), O_RDONLY))
    }

    /// Size of the staged file, in bytes; `nil` when there is none.
    public func stagedSize(_ name: BlobName) throws(DiskError) -> Int64? {
        do throws(DiskError) {
            return try staged.entry(name.text).size
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    /// Every staged file, in no order: what recovery compares with the records.
    public func stagedEntries() throws(DiskError) -> [FolderEntry] { try staged.entries() }

    /// Deletes a staged file; repeating it is harmless.
    public func discard(_ name: BlobName) throws(DiskError) { try staged.remove(name.text) }

    /// Makes an empty file that has no name: it goes with its last holder, however he ends.
    ///
    /// - Parameter name: What it is called for an instant; nobody else may use it.
    public func makeUnlinkedFile(_ name: BlobName) throws(DiskError) -> StagedFile {
        let file = try stage(name)
        try discard(name)
        return file
    }

    /// Moves a committed staged file among the complete ones, durably.
    ///
    /// Repeating it is harmless, also after a crash in the middle: a file that has moved already
    /// has only its folders synced again.
    ///
    /// - Parameter other: What it was called while it was staged; `nil` for the same.
    /// - Throws: ``DiskError/Kind/missing`` when the name is neither staged nor published.
    public func publish(_ name: BlobName, stagedAs other: BlobName? = nil) throws(DiskError) {
        let shelf = try shelf(name)
        do throws(DiskError) {
            try staged.rename((other ?? name).text, into: shelf, as: name.text)
        } catch {
            guard error.kind == .missing, try shelf.contains(name.text) else { throw error }
        }
        try shelf.sync()
        try staged.sync()
    }
}

extension BlobFolder {
    /// Opens a complete blob for reading.
    ///
    /// - Throws: ``DiskError/Kind/missing`` when nothing of that name is complete.
    public func open(_ name: BlobName) throws(DiskError) -> BlobFile {
        try BlobFile(
            FileDescriptor(opening: "\(content.path)/\(shelfName(name))/\(name)", O_RDONLY))
    }

    /// Whether a complete blob has this name.
    public func contains(_ name: BlobName) throws(DiskError) -> Bool {
        try content.contains("\(shelfName(name))/\(name)")
    }

    /// Deletes a complete blob durably; who is reading it reads on. Repeating it is harmless.
    ///
    /// - Returns: Bytes that are free now, or once nobody reads them.
    public func deleteDurably(_ name: BlobName) throws(DiskError) -> Int64 {
        let shelf = try shelf(name)
        let size: Int64
        do throws(DiskError) {
            size = try shelf.entry(name.text).size
        } catch {
            guard error.kind == .missing else { throw error }
            size = 0
        }
        try shelf.remove(name.text)
        try shelf.sync()
        return size
    }

    /// Deletes a complete blob; who is reading it reads on. Repeating it is harmless.
    public func delete(_ name: BlobName) throws(DiskError) {
        try content.remove("\(shelfName(name))/\(name)")
    }
}

extension BlobFolder {
    /// Gives back the room that leading bytes of a staged file take; from then on they read as zeros.
    ///
    /// The file keeps its size, and the bytes behind keep their places. A file system that cannot do
    /// it keeps the bytes until the file goes. One that is not there has none.
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
}

/// Room on the volume of a folder.
public struct FreeSpace: Sendable, Equatable {
    /// Bytes this process may still take.
    public let available: Int64
    /// Bytes the volume has in all.
    public let total: Int64
}

extension BlobFolder {
    /// Asks the volume how much room it has (`statvfs`).
    public func freeSpace() throws(DiskError) -> FreeSpace {
        var volume = statvfs()
        try systemCall("statvfs") { unsafe path.withCString { unsafe statvfs($0, &volume) } }
        // A volume too large for 63 bits is as good as one of that size.
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

/// A small, fixed number of queues, so that many uploads cost few threads.
package struct WorkQueuePool: Sendable {
    private let queues: [WorkQueue]

    /// Makes `count` queues, at least one.
    package init(_ label: String, count: Int) {
        queues = (0..<max(1, count)).map { number in WorkQueue("\(label).\(number)") }
    }

    /// The queue of one file: always the same, so its work stays in order.
    package subscript(name: BlobName) -> WorkQueue {
        // Names are random at their end, so the last characters spread best.
        let sum = name.text.utf8.suffix(8).reduce(0) { sum, byte in sum &* 31 &+ Int(byte) }
        return queues[abs(sum) % queues.count]
    }
}
