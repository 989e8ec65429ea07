/// What a client says the digest of its body is; the request is then all or nothing (§4.4).
struct BodyDigest: Sendable, Equatable {
    let algorithm: DigestAlgorithm
    /// The digest; checksums with their highest byte first.
    let value: [UInt8]
}
