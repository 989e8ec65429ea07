import Glibc

/// A blob that is open for reading. It is complete unless it was opened as a staged file.
///
/// The descriptor stays open as long as this object lives, so a reader is not disturbed when the blob is
/// deleted.
public final class BlobFile: Sendable {
    /// The open file, for `sendfile`.
    public let descriptor: FileDescriptor
    /// The size in bytes when it was opened; the size of a complete blob never changes.
    public let size: Int64

    /// Opens a file outside of a ``BlobFolder``.
    public convenience init(at path: String) throws(DiskError) {
        try self.init(FileDescriptor(opening: path, O_RDONLY))
    }

    init(_ descriptor: FileDescriptor) throws(DiskError) {
        self.descriptor = descriptor
        size = try descriptor.size()
    }

    /// Reads at most `count` bytes from a position; fewer only at the end of the file. Blocks on the disk.
    public func read(_ count: Int, at position: Int64) throws(DiskError) -> [UInt8] {
        try descriptor.read(count, at: position)
    }
}

/// The name of a blob on disk: 1 to 64 characters of `a–z`, `0–9` and `-`, not starting with `-`.
///
/// It is validated when it is created, so it can neither leave its folder nor collide on a file system that
/// ignores case.
public struct BlobName: Hashable, Sendable, CustomStringConvertible {
    /// The file name.
    public let text: String

    /// Validates a name; `nil` when it has another character or length.
    public init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard (1...64).contains(bytes.count), bytes.first != UInt8(ascii: "-") else { return nil }
        guard bytes.allSatisfy(BlobName.allows) else { return nil }
        self.text = String(text)
    }

    /// The file name.
    public var description: String { text }

    private static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"): true
        default: false
        }
    }
}
