public import Blobs

/// A file without a name that grows at its end, written in large pieces, and is read again.
///
/// Every method waits for the disk.
public struct ScratchFile: Sendable {
    private let file: StagedFile
    private var buffer: [UInt8] = []
    private var written: Int64 = 0

    private static let piece = 256 << 10

    /// Makes an empty one, which goes with its last holder.
    ///
    /// - Parameter name: One that nobody else uses, of the characters that a `BlobName` has.
    public init(in folder: BlobFolder, _ name: String) throws(DiskError) {
        guard let name = BlobName(name) else {
            throw DiskError(kind: .other, operation: "name a scratch file")
        }
        file = try folder.makeUnlinkedFile(name)
    }

    /// How many bytes were appended.
    public var size: Int64 { written + Int64(buffer.count) }

    /// Adds bytes.
    ///
    /// - Returns: Whether a piece of the file was written.
    @discardableResult
    public mutating func append(_ bytes: some Collection<UInt8>) throws(DiskError) -> Bool {
        buffer.append(contentsOf: bytes)
        guard buffer.count >= Self.piece else { return false }
        try flush()
        return true
    }

    /// Writes what waits, so that it can be read.
    public mutating func flush() throws(DiskError) {
        try file.write(buffer.span, at: written)
        written += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Reads at most so many bytes that have been flushed.
    public func read(_ count: Int, at place: Int64) throws(DiskError) -> [UInt8] {
        try file.read(count, at: place)
    }
}
