import Glibc

/// A small file that only the user of this process can read, replaced as a whole by rename.
///
/// It is meant for data that rarely changes, such as keys. Every method blocks on the disk.
public struct SecretFile: Sendable {
    private let folder: Folder
    private let name: String

    /// Creates the folder if it is missing; the file is neither read nor written.
    public init(folder path: String, name: BlobName) throws(DiskError) {
        folder = try Folder(making: path)
        self.name = name.text
    }

    /// The content of the file, at most 64 KiB; `nil` when there is no file.
    public func read() throws(DiskError) -> [UInt8]? {
        do throws(DiskError) {
            return try FileDescriptor(opening: folder.path(of: name), O_RDONLY).read(
                64 << 10, at: 0)
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    /// Replaces the content durably; only the owner can read the file.
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
