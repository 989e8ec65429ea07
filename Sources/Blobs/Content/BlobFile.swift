import Glibc

/// A blob open for reading, complete unless it was asked for while staged.
///
/// Holds its descriptor until the last holder lets go, so a deletion meanwhile harms no reader.
public final class BlobFile: Sendable {
    /// The open file, for the kernel's copy from file to socket.
    public let descriptor: Descriptor
    /// Size when it was opened, in bytes; that of a complete blob never changes.
    public let size: Int64

    /// Opens a file that is no blob, of a folder that others made.
    public convenience init(at path: String) throws(DiskError) {
        try self.init(Descriptor(opening: path, O_RDONLY))
    }

    init(_ descriptor: Descriptor) throws(DiskError) {
        self.descriptor = descriptor
        size = try descriptor.size()
    }

    /// Reads at most `count` bytes from a position; fewer only at the end. Waits for the disk.
    public func read(_ count: Int, at position: Int64) throws(DiskError) -> [UInt8] {
        try descriptor.read(count, at: position)
    }
}
