import Glibc

/// A folder of record files. Every method waits for the disk.
public struct RecordFolder: Sendable {
    private let folder: Folder

    /// Takes the folder, making it where it is missing.
    public init(at path: String) throws(DiskError) { folder = try Folder(making: path) }

    /// Makes a record; both the file and its name are durable when this returns.
    ///
    /// - Throws: ``DiskError/Kind/exists`` when there is one of that name.
    public func create(_ name: BlobName, _ payload: [UInt8]) throws(DiskError) -> RecordFile {
        let path = folder.path(of: name.text)
        let file: RecordFile
        do throws(DiskError) {
            let descriptor = try Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL)
            file = try RecordFile(descriptor, first: payload)
            try folder.sync()
        } catch {
            // Half a record is nobody's; what cannot be removed now goes with the orphans.
            if error.kind != .exists { try? folder.remove(name.text) }
            throw error
        }
        return file
    }

    /// Opens a record.
    ///
    /// - Throws: ``DiskError/Kind/missing``, or ``DiskError/Kind/damaged`` when neither slot holds.
    public func open(_ name: BlobName) throws(DiskError) -> RecordFile {
        let path = folder.path(of: name.text)
        let descriptor: Descriptor
        do throws(DiskError) {
            descriptor = try Descriptor(opening: path, O_RDWR)
        } catch {
            // What it holds can be told all the same; writing it fails then.
            guard error.kind == .readOnly else { throw error }
            descriptor = try Descriptor(opening: path, O_RDONLY)
        }
        return try RecordFile(descriptor)
    }

    /// Deletes a record; repeating it is harmless.
    public func delete(_ name: BlobName) throws(DiskError) { try folder.remove(name.text) }

    /// Everything in the folder, in no order.
    public func entries() throws(DiskError) -> [FolderEntry] { try folder.entries() }
}
