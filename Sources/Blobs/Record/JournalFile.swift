internal import Bytes
import Glibc
import SystemSupport

/// A small append-only file of entries.
///
/// An entry is its length (4 bytes), a CRC-32C of length and bytes (4), and its bytes; numbers are
/// little-endian. A crash while an entry is appended leaves the earlier entries intact.
public final class JournalFile: Sendable {
    private let descriptor: FileDescriptor
    private let state: Locked<State>

    private struct State {
        var entries: [[UInt8]]
        var end: Int64
    }

    /// The maximum size of an entry, in bytes.
    private static let maximumSize = 64 << 10
    private static let headerSize = 8

    fileprivate init(_ descriptor: FileDescriptor) throws(DiskError) {
        self.descriptor = descriptor
        var (entries, end): ([[UInt8]], Int64) = ([], 0)
        while let entry = try JournalFile.entry(in: descriptor, at: end) {
            entries.append(entry)
            end += Int64(JournalFile.headerSize + entry.count)
        }
        state = Locked(State(entries: entries, end: end))
    }

    /// All entries, in the order they were appended.
    public var entries: [[UInt8]] { state.withLock { $0.entries } }

    /// Appends an entry durably. Blocks on the disk; one caller at a time.
    ///
    /// After a failure nothing is appended, and the next entry is written at the same position.
    public func append(_ entry: [UInt8]) throws(DiskError) {
        guard entry.count <= JournalFile.maximumSize else {
            throw DiskError(kind: .damaged, operation: "writing an entry that is too large")
        }
        let end = state.withLock { $0.end }
        let bytes = JournalFile.header(of: entry) + entry
        try descriptor.write(bytes.span, at: end)
        try descriptor.syncData()
        state.withLock { state in
            state.entries.append(entry)
            state.end = end + Int64(bytes.count)
        }
    }

    private static func entry(
        in descriptor: FileDescriptor, at position: Int64
    ) throws(DiskError) -> [UInt8]? {
        let header = try descriptor.read(headerSize, at: position)
        guard header.count == headerSize else { return nil }
        let length = header.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= maximumSize else { return nil }
        let entry = try descriptor.read(length, at: position + Int64(headerSize))
        return entry.count == length && JournalFile.header(of: entry) == header ? entry : nil
    }

    private static func header(of entry: [UInt8]) -> [UInt8] {
        // The checksum covers the length, so that a run of zeros is not an entry.
        let length = UInt32(entry.count).littleEndianBytes
        var crc = CRC32C()
        crc.update(length.span)
        crc.update(entry.span)
        return length + crc.value.littleEndianBytes
    }
}

/// A folder of journals. Every method blocks on the disk.
public struct JournalFolder: Sendable {
    private let folder: Folder

    /// Opens the folder, and creates it if it is missing.
    public init(at path: String) throws(DiskError) { folder = try Folder(making: path) }

    /// Opens a journal; `nil` when none has this name.
    public func open(_ name: BlobName) throws(DiskError) -> JournalFile? {
        do throws(DiskError) {
            return try JournalFile(FileDescriptor(opening: folder.path(of: name.text), O_RDWR))
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    /// Creates a journal with a first entry; the entry and the file name are durable when this returns.
    ///
    /// - Throws: ``DiskError/Kind/exists`` when a journal has this name.
    public func begin(_ name: BlobName, _ entry: [UInt8]) throws(DiskError) -> JournalFile {
        let path = folder.path(of: name.text)
        do throws(DiskError) {
            let file = try JournalFile(FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL))
            try file.append(entry)
            try folder.sync()
            return file
        } catch {
            // An incomplete journal is of no use; recovery removes it if this fails.
            if error.kind != .exists { try? folder.remove(name.text) }
            throw error
        }
    }

    /// Deletes a journal durably; does nothing when there is none.
    public func delete(_ name: BlobName) throws(DiskError) {
        try folder.remove(name.text)
        try folder.sync()
    }

    /// All files in the folder, in no particular order.
    public func entries() throws(DiskError) -> [FolderEntry] { try folder.entries() }
}
