import Glibc

/// A small file that only this process's user may read, written whole by rename.
///
/// For what is written once in a long while, such as keys. Waits for the disk.
public struct SecretFile: Sendable {
    private let folder: Folder
    private let name: String

    /// Names a file; nothing is read or written yet. The folder is made where it is missing.
    public init(folder path: String, name: BlobName) throws(DiskError) {
        folder = try Folder(making: path)
        self.name = name.text
    }

    /// What the file holds, at most 64 KiB; `nil` when there is none.
    public func read() throws(DiskError) -> [UInt8]? {
        do throws(DiskError) {
            return try FileDescriptor(opening: folder.path(of: name), O_RDONLY).read(
                64 << 10, at: 0)
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    /// Replaces what the file holds, durably, readable by its owner alone.
    public func write(_ bytes: [UInt8]) throws(DiskError) {
        let draft = "\(name).new"
        try folder.remove(draft)
        let file = try FileDescriptor(
            opening: folder.path(of: draft), O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try file.write(bytes.span, at: 0)
        try file.sync()
        try folder.rename(draft, to: name)
        try folder.sync()
    }
}
