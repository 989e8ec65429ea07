internal import Blobs
internal import Digests

extension UploadEngine {
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
