import Glibc

/// A folder of journals. Every method waits for the disk.
public struct JournalFolder: Sendable {
    private let folder: Folder

    /// Takes the folder, making it where it is missing.
    public init(at path: String) throws(DiskError) { folder = try Folder(making: path) }

    /// Opens a journal; `nil` when there is none of that name.
    public func open(_ name: BlobName) throws(DiskError) -> JournalFile? {
        do throws(DiskError) {
            return try JournalFile(Descriptor(opening: folder.path(of: name.text), O_RDWR))
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
            let file = try JournalFile(Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL))
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
