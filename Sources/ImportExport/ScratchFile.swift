public import Blobs

/// An unnamed temporary file that is appended to with buffering and read again.
///
/// Every method blocks on the disk.
public struct ScratchFile: Sendable {
    private let file: StagedFile
    private var buffer: [UInt8] = []
    private var written: Int64 = 0

    private static let piece = 256 << 10

    /// Creates an empty file, which is deleted with its last reference.
    ///
    /// - Parameter name: A unique name of the characters allowed in a `BlobName`.
    public init(in folder: BlobFolder, _ name: String) throws(DiskError) {
        guard let name = BlobName(name) else {
            throw DiskError(kind: .other, operation: "naming a scratch file")
        }
        file = try folder.makeUnlinkedFile(name)
    }

    /// The number of bytes appended.
    public var size: Int64 { written + Int64(buffer.count) }

    /// Appends bytes.
    ///
    /// - Returns: Whether buffered bytes were written to the file.
    @discardableResult
    public mutating func append(_ bytes: some Collection<UInt8>) throws(DiskError) -> Bool {
        buffer.append(contentsOf: bytes)
        guard buffer.count >= Self.piece else { return false }
        try flush()
        return true
    }

    /// Writes the buffered bytes, so that they can be read.
    public mutating func flush() throws(DiskError) {
        try file.write(buffer.span, at: written)
        written += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Reads at most `count` flushed bytes.
    public func read(_ count: Int, at place: Int64) throws(DiskError) -> [UInt8] {
        try file.read(count, at: place)
    }
}
