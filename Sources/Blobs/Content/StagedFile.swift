import CLinux
import Glibc
import SystemSupport

/// A file that is still arriving.
///
/// Written through a window: every 8 MiB write-back begins, 24 MiB behind it is waited for and its
/// pages are dropped. The page cache stays clean, and the sync at a commit finds nothing to do
/// (measured twice the throughput of plain writes at half the CPU).
///
/// One queue at a time writes; ``commit()`` may run beside it and speaks of what was written before.
/// Every method waits for the disk.
public final class StagedFile: Sendable {
    let descriptor: FileDescriptor
    private let path: String
    private let folder: Folder
    private let window: Locked<Window>

    private struct Window {
        var started: Int64
        var dropped: Int64
        var isNameDurable: Bool
        /// The file opened once more, once it has grown long enough for hints.
        var hints: FileDescriptor?
    }

    init(_ descriptor: FileDescriptor, at path: String, isNew: Bool, in folder: Folder)
        throws(DiskError)
    {
        self.descriptor = descriptor
        self.path = path
        self.folder = folder
        let size = try descriptor.size()
        // An empty file may be one whose name was never synced before a crash.
        window = Locked(Window(started: size, dropped: size, isNameDurable: !isNew && size > 0))
    }

    /// Size of the file, in bytes; it may lie beyond the last commit.
    public func size() throws(DiskError) -> Int64 { try descriptor.size() }

    /// Writes all bytes at a position. They are not durable before ``commit()``.
    public func write(_ bytes: Span<UInt8>, at position: Int64) throws(DiskError) {
        try descriptor.write(bytes, at: position)
        advance(to: position + Int64(bytes.count))
    }

    /// Copies a part of another file to a position, in the kernel where that can be; not durable
    /// before ``commit()``.
    ///
    /// - Throws: ``DiskError/Kind/damaged`` when the other file ends before the range does.
    public func copy(
        _ range: Range<Int64>, of source: BlobFile, to position: Int64
    ) throws(DiskError) {
        try descriptor.copy(range, of: source.descriptor, to: position)
        advance(to: position + Int64(range.count))
    }

    /// Makes everything written so far durable.
    ///
    /// A failure loses the bytes since the last success, even if a second sync reports success:
    /// the kernel forgets the pages it could not write. Let go of the file, stage it again and
    /// ``truncate(to:)`` to what was committed.
    public func commit() throws(DiskError) {
        try descriptor.syncData()
        if window.withLock({ $0.isNameDurable }) { return }
        try folder.sync()
        window.withLock { $0.isNameDurable = true }
    }

    /// Cuts the file to a size.
    public func truncate(to size: Int64) throws(DiskError) {
        try systemCall("ftruncate") { ftruncate(descriptor.number, Int(size)) }
        window.withLock { window in
            window.started = min(window.started, size)
            window.dropped = min(window.dropped, size)
            // What there was may never have been committed, and its name neither.
            if size == 0 { window.isNameDurable = false }
        }
    }

    /// Reads at most `count` bytes from a position; fewer only at the end.
    public func read(_ count: Int, at position: Int64) throws(DiskError) -> [UInt8] {
        try descriptor.read(count, at: position)
    }

    private static let step: Int64 = 8 << 20
    private static let distance: Int64 = 24 << 20

    private func advance(to end: Int64) {
        let (begin, finish) = window.withLock { window in
            var begin: Range<Int64>?
            var finish: Range<Int64>?
            if end - window.started >= StagedFile.step {
                begin = window.started..<end
                window.started = end
            }
            if end - window.dropped >= StagedFile.distance + StagedFile.step {
                finish = window.dropped..<(end - StagedFile.distance)
                window.dropped = end - StagedFile.distance
            }
            return (begin, finish)
        }
        guard begin != nil || finish != nil, let hints = hints() else { return }
        if let begin { WriteBack.start(hints, begin) }
        if let finish { WriteBack.finish(hints, finish) }
    }

    /// What hints are given by.
    ///
    /// The kernel tells each open file of a failed write-back once, and a hint that waits would hear
    /// of it in place of the sync, which would then promise bytes that are lost.
    private func hints() -> FileDescriptor? {
        if let hints = window.withLock({ window in window.hints }) { return hints }
        // Without a descriptor left there are no hints.
        guard let hints = try? FileDescriptor(opening: path, O_RDWR) else { return nil }
        window.withLock { window in window.hints = hints }
        return hints
    }
}

extension StagedFile {
    /// Takes room on the disk for bytes that are to come, without changing the size of the file.
    ///
    /// What was reserved stays reserved until the file is cut or deleted. It also lies in one piece,
    /// which spares the file system most of its work when the bytes come.
    ///
    /// - Returns: False where the file system cannot reserve; the bytes may come all the same.
    /// - Throws: ``DiskError/Kind/full`` when there is no such room.
    public func reserve(_ range: Range<Int64>) throws(DiskError) -> Bool {
        do throws(DiskError) {
            try systemCall("fallocate") {
                fallocate(
                    descriptor.number, FALLOC_FL_KEEP_SIZE, Int(range.lowerBound), range.count)
            }
            return true
        } catch {
            guard [EOPNOTSUPP, ENOSYS, EINVAL, ENODEV].contains(error.code) else { throw error }
            return false
        }
    }
}

/// Starts and waits for write-back of a part of a file.
///
/// Hints, whose failure costs speed alone. They make nothing durable; `fdatasync` alone does.
enum WriteBack {
    /// Asks the kernel to begin writing these bytes out.
    static func start(_ descriptor: FileDescriptor, _ bytes: Range<Int64>) {
        _ = sync_file_range(
            descriptor.number, Int(bytes.lowerBound), bytes.count, UInt32(SYNC_FILE_RANGE_WRITE))
    }

    /// Waits until these bytes left the page cache, then drops their pages.
    static func finish(_ descriptor: FileDescriptor, _ bytes: Range<Int64>) {
        let wholly =
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER
        _ = sync_file_range(
            descriptor.number, Int(bytes.lowerBound), bytes.count, UInt32(wholly))
        _ = posix_fadvise(
            descriptor.number, Int(bytes.lowerBound), bytes.count, POSIX_FADV_DONTNEED)
    }
}
