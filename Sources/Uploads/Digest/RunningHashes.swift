public import Blobs
internal import Bytes

/// The digests of content while it arrives (§4.5).
///
/// CRC-32C and SHA-256 always run; MD5 only when a client may want it, because it is three times as slow. A digest
/// takes only bytes that continue it. One that started late reads the missing bytes from the file when the upload
/// ends.
struct RunningHashes: Sendable {
    private(set) var sha256 = SHA256()
    private(set) var crc32c = CRC32C()
    private(set) var covered: Int64 = 0
    private(set) var md5: MD5?
    private(set) var coveredByMD5: Int64 = 0

    init() {}

    init?(sha256: [UInt8], crc32c: UInt32, covered: Int64, md5: [UInt8]?, coveredByMD5: Int64) {
        guard let sum = SHA256(state: sha256) else { return nil }
        self.sha256 = sum
        self.crc32c = CRC32C(resuming: crc32c)
        self.covered = covered
        if let md5 {
            guard let sum = MD5(state: md5) else { return nil }
            self.md5 = sum
            self.coveredByMD5 = coveredByMD5
        }
    }

    /// Starts MD5, from the first byte on.
    mutating func want(md5 isWanted: Bool) {
        if isWanted && md5 == nil { md5 = MD5() }
    }

    /// Takes bytes of the content at a position.
    private mutating func update(_ bytes: Span<UInt8>, at position: Int64) {
        updateAlways(bytes, at: position)
        updateMD5(bytes, at: position)
    }

    /// Updates CRC-32C and SHA-256.
    mutating func updateAlways(_ bytes: Span<UInt8>, at position: Int64) {
        guard covered == position else { return }
        sha256.update(bytes)
        crc32c.update(bytes)
        covered += Int64(bytes.count)
    }

    /// Updates MD5, which is slow and may therefore run at the same time, on a copy.
    mutating func updateMD5(_ bytes: Span<UInt8>, at position: Int64) {
        guard coveredByMD5 == position, md5 != nil else { return }
        md5?.update(bytes)
        coveredByMD5 += Int64(bytes.count)
    }

    /// Takes the state of MD5 from a copy.
    mutating func adoptMD5(of other: RunningHashes) {
        md5 = other.md5
        coveredByMD5 = other.coveredByMD5
    }

    /// The position of the digest that is farthest behind.
    var slowestPosition: Int64 { md5 == nil ? covered : min(covered, coveredByMD5) }
}

extension RunningHashes {
    /// Takes bytes that some digests may have seen already.
    mutating func catchUp(_ piece: [UInt8], at position: Int64) {
        let end = position + Int64(piece.count)
        while slowestPosition < end {
            let start = max(slowestPosition, position)
            let border = [covered, coveredByMD5, end].filter { $0 > start }.min() ?? end
            let bytes = piece[Int(start - position)..<Int(border - position)]
            update(bytes.span, at: start)
        }
    }
}

extension BlobFile {
    private static let piece = 1 << 20

    /// SHA-256 of the whole file, read in chunks. Waits for the disk.
    public func digest() throws(DiskError) -> [UInt8] {
        var (hash, position) = (SHA256(), Int64(0))
        while position < size {
            let bytes = try read(BlobFile.piece, at: position)
            // The file was truncated meanwhile, so the digest cannot match anyway.
            guard !bytes.isEmpty else { break }
            hash.update(bytes.span)
            position += Int64(bytes.count)
        }
        return hash.digest
    }
}
