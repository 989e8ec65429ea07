/// A digest taken of bytes as they come.
public protocol RunningDigest: Sendable {
    /// Length of the digest, in bytes.
    static var size: Int { get }

    /// Starts over no bytes.
    init()

    /// Takes the next bytes.
    mutating func update(_ bytes: Span<UInt8>)

    /// Of everything so far, the state stays as it is; checksums with their highest byte first.
    var digest: [UInt8] { get }
}

extension RunningDigest {
    /// The digest of bytes in memory.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = Self()
        digest.update(bytes.span)
        return digest.digest
    }
}
