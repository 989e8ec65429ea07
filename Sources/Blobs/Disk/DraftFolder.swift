import Glibc

/// A folder that is being filled, and says so itself until all of it is there.
///
/// A file called `unfinished` stands in it durably from before the first file until after the last, so
/// that nobody takes half of it for the whole, also after a crash. One process fills it at a time. Every
/// method waits for the disk.
public final class DraftFolder: Sendable {
    /// Why a folder cannot be filled.
    public enum Refusal: Error, Equatable {
        /// It holds something already, and nothing of this work.
        case notEmpty
        /// Another process has it.
        case held(FolderLock.Refusal)
        /// The disk refused.
        case disk(DiskError)
    }

    /// Where it is.
    public let path: String
    private let folder: Folder
    private let lock: FolderLock

    private static let mark = "unfinished"
    /// What may stand in a folder that counts as empty: a lock nobody holds, and what file systems make.
    private static let ignored: Set = ["lock", "lost+found"]

    /// Takes a folder, making it where it is missing, or goes on with one that the same work has left
    /// unfinished.
    ///
    /// - Parameter work: A word for what fills it.
    public init(at path: String, for work: String) throws(Refusal) {
        self.path = path
        do throws(DiskError) {
            folder = try Folder(making: path)
        } catch {
            throw .disk(error)
        }
        // Before the lock, which leaves a file in whatever folder somebody has named by mistake.
        try DraftFolder.requireFree(folder, for: work)
        do throws(FolderLock.Refusal) { lock = try FolderLock(folder: path) } catch {
            throw .held(error)
        }
        try DraftFolder.requireFree(folder, for: work)
        do throws(DiskError) {
            let file = try FileDescriptor(
                opening: folder.path(of: DraftFolder.mark), O_WRONLY | O_CREAT)
            try file.write(Array(work.utf8).span, at: 0)
            try file.sync()
            try folder.sync()
        } catch {
            throw .disk(error)
        }
    }

    /// Whether a folder is one that somebody has not finished, whatever the work was.
    public static func isUnfinished(_ path: String) -> Bool {
        // A folder that cannot be looked at is refused by whoever wants to use it.
        unsafe access("\(path)/\(mark)", F_OK) == 0
    }

    private static func requireFree(_ folder: Folder, for work: String) throws(Refusal) {
        do throws(DiskError) {
            let names = Set(try folder.names())
            if names.contains(mark) {
                let file = try FileDescriptor(opening: folder.path(of: mark), O_RDONLY)
                let begun = try file.read(64, at: 0)
                // Empty after a crash in the midst of marking: nothing else is there then.
                if begun == Array(work.utf8) { return }
                if begun.isEmpty, names.subtracting(ignored) == [mark] { return }
            } else if names.isSubset(of: ignored) {
                return
            }
        } catch {
            throw .disk(error)
        }
        throw .notEmpty
    }

    /// Makes an empty file that only this process's user may read, for somebody who asks no such question.
    public func make(_ name: String) throws(DiskError) {
        _ = try FileDescriptor(opening: folder.path(of: name), O_WRONLY | O_CREAT | O_TRUNC)
    }

    /// Copies a file to a name in the folder, durably but for the name, replacing what had it.
    public func copy(_ source: BlobFile, to name: String) throws(DiskError) {
        let file = try FileDescriptor(opening: folder.path(of: name), O_WRONLY | O_CREAT | O_TRUNC)
        try file.copy(0..<source.size, of: source.descriptor, to: 0)
        try file.syncData()
    }

    /// Deletes a file; one that is not there is deleted already.
    public func remove(_ name: String) throws(DiskError) { try folder.remove(name) }

    /// Says durably that everything is there.
    public func finish() throws(DiskError) {
        try folder.sync()
        try folder.remove(DraftFolder.mark)
        try folder.sync()
    }
}
