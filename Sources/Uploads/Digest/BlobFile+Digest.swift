public import Blobs
internal import Digests

extension BlobFile {
    private static let piece = 1 << 20

    /// SHA-256 of everything, piece by piece. Waits for the disk.
    public func digest() throws(DiskError) -> [UInt8] {
        var (hash, position) = (SHA256(), Int64(0))
        while position < size {
            let bytes = try read(BlobFile.piece, at: position)
            // Cut meanwhile: whatever it is then, it is not what it was.
            guard !bytes.isEmpty else { break }
            hash.update(bytes.span)
            position += Int64(bytes.count)
        }
        return hash.digest
    }
}
