import Glibc

/// An exclusive lock of a data folder; a second process gets an error and does not wait.
///
/// It is a kernel lock (`flock`) of a file called `lock`, so it ends with the process, also after a crash. The
/// file stays; it contains the process id of the last owner, as a hint for the operator. Not for network file
/// systems, where `flock` is not reliable.
public final class FolderLock: Sendable {
    /// The reason why the folder could not be locked.
    public enum Refusal: Error, Equatable, CustomStringConvertible {
        /// Another process has locked the folder; its process id, if it could be read.
        case held(by: Int32?)
        /// The lock file could not be created, for example for lack of permission.
        case disk(DiskError)

        /// A text for the operator.
        public var description: String {
            switch self {
            case .held(let process?): "already in use by process \(process)"
            case .held(nil): "already in use by another process"
            case .disk(let error): "cannot be locked (\(error))"
            }
        }
    }

    private let descriptor: FileDescriptor

    /// Locks a folder, and creates it if it is missing; the lock lasts as long as this object lives.
    public init(folder path: String) throws(Refusal) {
        do throws(DiskError) {
            let folder = try Folder(making: path)
            descriptor = try FileDescriptor(opening: folder.path(of: "lock"), O_RDWR | O_CREAT)
        } catch {
            throw .disk(error)
        }
        do throws(DiskError) {
            try systemCall("flock") { [descriptor] in flock(descriptor.number, LOCK_EX | LOCK_NB) }
        } catch {
            throw error.code == EWOULDBLOCK ? .held(by: owner) : .disk(error)
        }
        // Only a hint: the lock is valid even if a full disk rejects it.
        try? writeOwner()
    }

    /// Unlocks at once: closing the descriptor alone would leave the lock to a child process that was forked and has not
    /// executed its program yet.
    deinit { _ = flock(descriptor.number, LOCK_UN) }

    /// Checks that the folder can be created, or that files can be created in it; locks nothing and leaves nothing
    /// behind.
    public static func check(folder path: String) throws(DiskError) { try Folder.check(path) }

    /// The process id in the lock file; `nil` when it cannot be read.
    private var owner: Int32? {
        guard let bytes = try? descriptor.read(16, at: 0) else { return nil }
        let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return Int32(text)
    }

    private func writeOwner() throws(DiskError) {
        let line = Array("\(getpid())\n".utf8)
        try systemCall("ftruncate") { ftruncate(descriptor.number, 0) }
        try descriptor.write(line.span, at: 0)
    }
}
