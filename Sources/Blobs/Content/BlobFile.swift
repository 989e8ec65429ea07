import Glibc

/// A blob open for reading, complete unless it was asked for while staged.
///
/// Holds its descriptor until the last holder lets go, so a deletion meanwhile harms no reader.
public final class BlobFile: Sendable {
    /// The open file, for the kernel's copy from file to socket.
    public let descriptor: FileDescriptor
    /// Size when it was opened, in bytes; that of a complete blob never changes.
    public let size: Int64

    /// Opens a file that is no blob, of a folder that others made.
    public convenience init(at path: String) throws(DiskError) {
        try self.init(FileDescriptor(opening: path, O_RDONLY))
    }

    init(_ descriptor: FileDescriptor) throws(DiskError) {
        self.descriptor = descriptor
        size = try descriptor.size()
    }

    /// Reads at most `count` bytes from a position; fewer only at the end. Waits for the disk.
    public func read(_ count: Int, at position: Int64) throws(DiskError) -> [UInt8] {
        try descriptor.read(count, at: position)
    }
}

/// A name a blob may have on disk: 1 to 64 characters of `a–z`, `0–9` and `-`, not starting with `-`.
///
/// Checked where it is made, so that past here no name leaves its folder or meets a case-folding
/// file system.
public struct BlobName: Hashable, Sendable, CustomStringConvertible {
    /// The name as it stands in the folder.
    public let text: String

    /// Reads a name; `nil` when it has another character or length.
    public init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard (1...64).contains(bytes.count), bytes.first != UInt8(ascii: "-") else { return nil }
        guard bytes.allSatisfy(BlobName.allows) else { return nil }
        self.text = String(text)
    }

    /// The name as it stands in the folder.
    public var description: String { text }

    private static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"): true
        default: false
        }
    }
}
