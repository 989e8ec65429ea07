import Glibc

/// Keeps a data folder for one process: a second one is refused, never waited for.
///
/// The lock is the kernel's (`flock`), so it ends with the process however that ends; the file
/// itself stays and means nothing. It holds the number of the process that locked it last, as a
/// hint for a person. Not for network file systems, whose locks are not everywhere the kernel's.
public final class FolderLock: Sendable {
    /// Why the folder could not be taken.
    public enum Refusal: Error, Equatable, CustomStringConvertible {
        /// Another process serves this folder; the number it wrote, where it could be read.
        case held(by: Int32?)
        /// The lock file could not be made, for instance in a folder one may not write to.
        case disk(DiskError)

        /// One line for a person at a terminal.
        public var description: String {
            switch self {
            case .held(let process?): "already in use by process \(process)"
            case .held(nil): "already in use by another process"
            case .disk(let error): "cannot be locked (\(error))"
            }
        }
    }

    private let descriptor: FileDescriptor

    /// Takes the folder; the lock lasts as long as this object lives.
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
        // Only a hint, so a disk too full to take it refuses nobody.
        try? sign()
    }

    private var owner: Int32? {
        // Unreadable means unknown; the lock itself has already answered.
        guard let bytes = try? descriptor.read(16, at: 0) else { return nil }
        let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return Int32(text)
    }

    private func sign() throws(DiskError) {
        let line = Array("\(getpid())\n".utf8)
        try systemCall("ftruncate") { ftruncate(descriptor.number, 0) }
        try descriptor.write(line.span, at: 0)
    }
}
