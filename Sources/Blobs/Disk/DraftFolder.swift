import Glibc

/// A folder that is being filled by one process, and is marked as unfinished until it is complete.
///
/// The mark is a file called `unfinished`. It is durable before the first file is created and is removed after
/// the last one, so that an incomplete folder is recognised, also after a crash. Every method blocks on the
/// disk.
public final class DraftFolder: Sendable {
    /// The reason why a folder cannot be filled.
    public enum Refusal: Error, Equatable {
        /// The folder has files, and not only those of an unfinished run of the same work.
        case notEmpty
        /// Another process uses the folder.
        case held(FolderLock.Refusal)
        /// A disk operation failed.
        case disk(DiskError)
    }

    /// The path of the folder.
    public let path: String
    private let folder: Folder
    private let lock: FolderLock

    private static let markerName = "unfinished"
    /// Names that an empty folder may have: an unused lock file, and a folder that some file systems create.
    private static let ignored: Set = ["lock", "lost+found"]

    /// Opens a folder, creates it if it is missing, or resumes an unfinished run of the same work.
    ///
    /// - Parameter work: A word for the kind of work; it is stored in the mark.
    public init(at path: String, for work: String) throws(Refusal) {
        self.path = path
        do throws(DiskError) {
            folder = try Folder(making: path)
        } catch {
            throw .disk(error)
        }
        // Checked before locking too, because the lock creates a file, and the path may be a mistake.
        try DraftFolder.requireFree(folder, for: work)
        do throws(FolderLock.Refusal) { lock = try FolderLock(folder: path) } catch {
            throw .held(error)
        }
        try DraftFolder.requireFree(folder, for: work)
        do throws(DiskError) {
            let file = try FileDescriptor(
                opening: folder.path(of: DraftFolder.markerName), O_WRONLY | O_CREAT)
            try file.write(Array(work.utf8).span, at: 0)
            try file.sync()
            try folder.sync()
        } catch {
            throw .disk(error)
        }
    }

    /// Creates a folder and its parents, accessible only to the user of this process, unless it exists.
    public static func make(_ path: String) throws(DiskError) { _ = try Folder(making: path) }

    /// Whether a folder is marked as unfinished, by any kind of work.
    public static func isUnfinished(_ path: String) -> Bool {
        // For a folder without access this is false; using the folder then fails with a clear error.
        unsafe access("\(path)/\(markerName)", F_OK) == 0
    }

    private static func requireFree(_ folder: Folder, for work: String) throws(Refusal) {
        do throws(DiskError) {
            let names = Set(try folder.names())
            if names.contains(markerName) {
                let file = try FileDescriptor(opening: folder.path(of: markerName), O_RDONLY)
                let begun = try file.read(64, at: 0)
                if begun == Array(work.utf8) { return }
                // The mark is empty after a crash while it was written; nothing else exists then.
                if begun.isEmpty, names.subtracting(ignored) == [markerName] { return }
            } else if names.isSubset(of: ignored) {
                return
            }
        } catch {
            throw .disk(error)
        }
        throw .notEmpty
    }

    /// Creates an empty file, accessible only to the user of this process, to be filled by other code that
    /// does not set permissions.
    public func make(_ name: String) throws(DiskError) {
        _ = try FileDescriptor(opening: folder.path(of: name), O_WRONLY | O_CREAT | O_TRUNC)
    }

    /// Copies a file into the folder and replaces a file with the same name. The bytes are durable when this
    /// returns, the name after ``finish()``.
    public func copy(_ source: BlobFile, to name: String) throws(DiskError) {
        let file = try FileDescriptor(opening: folder.path(of: name), O_WRONLY | O_CREAT | O_TRUNC)
        try file.copy(0..<source.size, of: source.descriptor, to: 0)
        try file.syncData()
    }

    /// Deletes a file; does nothing when it does not exist.
    public func remove(_ name: String) throws(DiskError) { try folder.remove(name) }

    /// Makes all names durable and removes the mark: the folder is complete.
    public func finish() throws(DiskError) {
        try folder.sync()
        try folder.remove(DraftFolder.markerName)
        try folder.sync()
    }
}
