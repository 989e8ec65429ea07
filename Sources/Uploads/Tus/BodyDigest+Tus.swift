internal import Base64
internal import Digests

extension DigestAlgorithm {
    /// The names a tus client may state a checksum by (§6.2), in the order they are offered.
    static let tus: [(name: String, algorithm: DigestAlgorithm)] = [
        ("sha1", .sha1), ("sha256", .sha256), ("md5", .md5), ("crc32", .crc32),
        ("crc32c", .crc32c),
    ]
}

extension BodyDigest {
    /// Reads the value of `Upload-Checksum` (§6.8): an algorithm in lower case, one blank, and the
    /// digest in standard base64.
    ///
    /// - Throws: ``UploadError/unsupportedChecksum`` for another algorithm,
    ///   ``UploadError/invalid(_:)`` for what is no digest of it.
    init(tus value: String) throws(UploadError) {
        let halves = value.utf8.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard halves.count == 2 else {
            throw .invalid(
                "Upload-Checksum must be an algorithm, one space and the base64 digest of the body."
            )
        }
        let name = Array(halves[0])
        guard let known = DigestAlgorithm.tus.first(where: { Array($0.name.utf8) == name }) else {
            throw .unsupportedChecksum
        }
        algorithm = known.algorithm
        self.value = try DeclaredDigests.bytes(
            Substring(halves[1]), count: algorithm.kind.size, in: "Upload-Checksum")
    }
}
