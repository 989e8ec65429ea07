internal import Blobs
internal import Digests

extension UploadEngine {
    /// Digests of a published content: those that are behind are read up, SHA-512 where it is wanted.
    func digests(
        of blob: BlobName, length: Int64, from known: RunningHashes, withSHA512 isWanted: Bool
    ) async throws(StorageError) -> (hashes: RunningHashes, sha512: [UInt8]?) {
        var hashes = known
        var sha512 = isWanted ? SHA512() : nil
        var position = isWanted ? 0 : hashes.behind
        var reader = try await storage.open(blob).reader(position..<length)
        while let piece = try await reader.next() {
            // Two digests may stand at different places; each takes only what continues it.
            hashes.catchUp(piece, at: position)
            sha512?.update(piece.span)
            position += Int64(piece.count)
        }
        guard hashes.behind == length else { throw .lost }
        return (hashes, sha512?.digest)
    }

    /// SHA-512 of so many bytes, staged or published. Waits for the disk.
    func sha512(of blob: BlobName, length: Int64) throws(DiskError) -> [UInt8] {
        var hash = SHA512()
        var position: Int64 = 0
        let isPublished = try blobs.contains(blob)
        while position < length {
            let count = Int(min(length - position, 256 << 10))
            let piece =
                isPublished
                ? try blobs.open(blob).read(count, at: position)
                : try blobs.stage(blob).read(count, at: position)
            guard !piece.isEmpty else {
                throw DiskError(kind: .damaged, operation: "digest")
            }
            hash.update(piece.span)
            position += Int64(piece.count)
        }
        return hash.digest
    }
}
