internal import Bytes
import Glibc
import SystemSupport

/// A small file of entries that is only ever added to.
///
/// Each entry is length (4 bytes), CRC-32C of what follows (4), and its bytes; little-endian. A crash
/// in the middle of adding one leaves those before it.
public final class JournalFile: Sendable {
    private let descriptor: FileDescriptor
    private let state: Locked<State>

    private struct State {
        var entries: [[UInt8]]
        var end: Int64
    }

    /// Longest entry, in bytes.
    static let longest = 64 << 10
    private static let headerSize = 8

    init(_ descriptor: FileDescriptor) throws(DiskError) {
        self.descriptor = descriptor
        var (entries, end): ([[UInt8]], Int64) = ([], 0)
        while let entry = try JournalFile.entry(in: descriptor, at: end) {
            entries.append(entry)
            end += Int64(JournalFile.headerSize + entry.count)
        }
        state = Locked(State(entries: entries, end: end))
    }

    /// Everything added so far, in order.
    public var entries: [[UInt8]] { state.withLock { $0.entries } }

    /// Adds an entry, durably. Waits for the disk; one caller at a time.
    ///
    /// After a failure nothing was added, and the next entry takes the same place.
    public func append(_ entry: [UInt8]) throws(DiskError) {
        guard entry.count <= JournalFile.longest else {
            throw DiskError(kind: .damaged, operation: "entry too large")
        }
        let end = state.withLock { $0.end }
        let row = JournalFile.header(of: entry) + entry
        try descriptor.write(row.span, at: end)
        try descriptor.syncData()
        state.withLock { state in
            state.entries.append(entry)
            state.end = end + Int64(row.count)
        }
    }

    private static func entry(
        in descriptor: FileDescriptor, at place: Int64
    ) throws(DiskError) -> [UInt8]? {
        let header = try descriptor.read(headerSize, at: place)
        guard header.count == headerSize else { return nil }
        let length = header.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= longest else { return nil }
        let entry = try descriptor.read(length, at: place + Int64(headerSize))
        return entry.count == length && JournalFile.header(of: entry) == header ? entry : nil
    }

    private static func header(of entry: [UInt8]) -> [UInt8] {
        // The length counts too, so that nothing but zeros is no entry.
        let length = little(UInt32(entry.count))
        var crc = CRC32C()
        crc.update(length.span)
        crc.update(entry.span)
        return length + little(crc.value)
    }

    private static func little(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// A folder of journals. Every method waits for the disk.
public struct JournalFolder: Sendable {
    private let folder: Folder

    /// Takes the folder, making it where it is missing.
    public init(at path: String) throws(DiskError) { folder = try Folder(making: path) }

    /// Opens a journal; `nil` when there is none of that name.
    public func open(_ name: BlobName) throws(DiskError) -> JournalFile? {
        do throws(DiskError) {
            return try JournalFile(FileDescriptor(opening: folder.path(of: name.text), O_RDWR))
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    /// Begins a journal with its first entry; both and the name are durable when this returns.
    ///
    /// - Throws: ``DiskError/Kind/exists`` when there is one of that name.
    public func begin(_ name: BlobName, _ entry: [UInt8]) throws(DiskError) -> JournalFile {
        let path = folder.path(of: name.text)
        do throws(DiskError) {
            let file = try JournalFile(FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL))
            try file.append(entry)
            try folder.sync()
            return file
        } catch {
            // Half a journal is nobody's; what cannot be removed now goes with the orphans.
            if error.kind != .exists { try? folder.remove(name.text) }
            throw error
        }
    }

    /// Deletes a journal durably; repeating it is harmless.
    public func delete(_ name: BlobName) throws(DiskError) {
        try folder.remove(name.text)
        try folder.sync()
    }

    /// Everything in the folder, in no order.
    public func entries() throws(DiskError) -> [FolderEntry] { try folder.entries() }
}
