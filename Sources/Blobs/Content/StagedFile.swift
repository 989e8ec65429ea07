import CLinux
import Glibc
import SystemSupport

/// A file of a ``BlobFolder`` that is still being received.
///
/// Every 8 MiB the kernel is requested to start writing back; 24 MiB later the write-back is awaited and the pages
/// are dropped from the page cache. A commit then has little left to sync (measured: twice the throughput of
/// plain writes at half the CPU).
///
/// One thread at a time writes; ``commit()`` may run at the same time and covers what was written before it
/// began. Every method blocks on the disk.
public final class StagedFile: Sendable {
    private let descriptor: FileDescriptor
    private let path: String
    private let folder: Folder
    private let writeBack: Locked<WriteBackState>

    private struct WriteBackState {
        /// The position up to which write-back was started.
        var started: Int64
        /// The position up to which pages were dropped.
        var dropped: Int64
        var isNameDurable: Bool
        /// A second descriptor of the file for write-back; opened when the file is long enough.
        var descriptor: FileDescriptor?
    }

    init(_ descriptor: FileDescriptor, at path: String, isNew: Bool, in folder: Folder)
        throws(DiskError)
    {
        self.descriptor = descriptor
        self.path = path
        self.folder = folder
        let size = try descriptor.size()
        // The name of an empty file may never have been synced before a crash.
        writeBack = Locked(
            WriteBackState(started: size, dropped: size, isNameDurable: !isNew && size > 0))
    }

    /// The size of the file in bytes, including bytes that are not committed.
    public func size() throws(DiskError) -> Int64 { try descriptor.size() }

    /// Writes all bytes at a position; they are durable after ``commit()``.
    public func write(_ bytes: Span<UInt8>, at position: Int64) throws(DiskError) {
        try descriptor.write(bytes, at: position)
        advance(to: position + Int64(bytes.count))
    }

    /// Copies a range of another file to a position, inside the kernel where it supports that; the bytes are
    /// durable after ``commit()``.
    ///
    /// - Throws: ``DiskError/Kind/damaged`` when the other file ends before the range.
    public func copy(
        _ range: Range<Int64>, of source: BlobFile, to position: Int64
    ) throws(DiskError) {
        try descriptor.copy(range, of: source.descriptor, to: position)
        advance(to: position + Int64(range.count))
    }

    /// Makes everything written so far durable.
    ///
    /// A failure loses the bytes since the last success, even if a second sync succeeds: the kernel discards
    /// the pages it could not write. Discard this object, stage the file again and ``truncate(to:)`` to the
    /// committed size.
    public func commit() throws(DiskError) {
        try descriptor.syncData()
        if writeBack.withLock({ $0.isNameDurable }) { return }
        try folder.sync()
        writeBack.withLock { $0.isNameDurable = true }
    }

    /// Shortens the file to a size.
    public func truncate(to size: Int64) throws(DiskError) {
        try systemCall("ftruncate") { ftruncate(descriptor.number, Int(size)) }
        writeBack.withLock { state in
            state.started = min(state.started, size)
            state.dropped = min(state.dropped, size)
            // Neither the former bytes nor the name may have been committed.
            if size == 0 { state.isNameDurable = false }
        }
    }

    /// Reserves disk space for bytes that will be written, without changing the size of the file.
    ///
    /// The space stays reserved until the file is truncated or deleted. It is contiguous, which makes the
    /// later writes cheaper for the file system.
    ///
    /// - Returns: False when the file system cannot reserve; the bytes can be written nevertheless.
    /// - Throws: ``DiskError/Kind/full`` when there is not enough space.
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

    /// Reads at most `count` bytes from a position; fewer only at the end of the file.
    public func read(_ count: Int, at position: Int64) throws(DiskError) -> [UInt8] {
        try descriptor.read(count, at: position)
    }

    // MARK: Write-back

    /// The number of bytes after which write-back is started.
    private static let step: Int64 = 8 << 20
    /// The distance from the end, in bytes, at which pages are dropped from the page cache.
    private static let distance: Int64 = 24 << 20

    private func advance(to end: Int64) {
        let (begin, finish) = writeBack.withLock { state in
            var begin: Range<Int64>?
            var finish: Range<Int64>?
            if end - state.started >= StagedFile.step {
                begin = state.started..<end
                state.started = end
            }
            if end - state.dropped >= StagedFile.distance + StagedFile.step {
                finish = state.dropped..<(end - StagedFile.distance)
                state.dropped = end - StagedFile.distance
            }
            return (begin, finish)
        }
        guard begin != nil || finish != nil, let descriptor = writeBackDescriptor() else { return }
        if let begin { WriteBack.start(descriptor, begin) }
        if let finish { WriteBack.finish(descriptor, finish) }
    }

    /// The descriptor for write-back; `nil` when the process has none left.
    ///
    /// It must not be the one that ``commit()`` syncs: the kernel reports a failed write-back once for each
    /// open file. Waiting for the write-back would consume that report, and the sync would succeed although
    /// bytes are lost.
    private func writeBackDescriptor() -> FileDescriptor? {
        if let known = writeBack.withLock({ state in state.descriptor }) { return known }
        // Without it the file is only slower.
        guard let opened = try? FileDescriptor(opening: path, O_RDWR) else { return nil }
        writeBack.withLock { state in state.descriptor = opened }
        return opened
    }
}

/// Starts and awaits the write-back of a part of a file.
///
/// These are hints: a failure costs only speed. They make nothing durable; only `fdatasync` does.
private enum WriteBack {
    /// Asks the kernel to start writing bytes to the disk.
    static func start(_ descriptor: FileDescriptor, _ bytes: Range<Int64>) {
        _ = sync_file_range(
            descriptor.number, Int(bytes.lowerBound), bytes.count, UInt32(SYNC_FILE_RANGE_WRITE))
    }

    /// Waits until bytes are written, then drops their pages from the page cache.
    static func finish(_ descriptor: FileDescriptor, _ bytes: Range<Int64>) {
        let flags =
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER
        _ = sync_file_range(
            descriptor.number, Int(bytes.lowerBound), bytes.count, UInt32(flags))
        _ = posix_fadvise(
            descriptor.number, Int(bytes.lowerBound), bytes.count, POSIX_FADV_DONTNEED)
    }
}
