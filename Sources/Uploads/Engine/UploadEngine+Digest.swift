internal import Blobs
internal import Digests

extension UploadEngine {
    /// Digests of a whole content: those that are behind are read up, and SHA-512, which runs for
    /// nobody else, is made where it is wanted.
    ///
    /// Piece by piece, because others wait for the same queue.
    func digests(
        of content: OpenContent, length: Int64, from known: RunningHashes, withSHA512 isWanted: Bool
    ) async throws(StorageError) -> (hashes: RunningHashes, sha512: [UInt8]?) {
        var hashes = known
        var sha512 = isWanted ? SHA512() : nil
        var position = isWanted ? 0 : hashes.behind
        var reader = content.reader(position..<length)
        while let piece = try await reader.next() {
            // Two digests may stand at different places; each takes only what continues it.
            hashes.catchUp(piece, at: position)
            sha512?.update(piece.span)
            position += Int64(piece.count)
        }
        guard hashes.behind == length else { throw .lost }
        return (hashes, sha512?.digest)
    }
}
