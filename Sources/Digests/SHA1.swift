import COpenSSL

/// A running SHA-1, for protocols that name it; nothing rests on it.
public struct SHA1: RunningDigest {
    private var context = SHA_CTX()

    /// Starts over no bytes.
    public init() { unsafe SHA1_Init(&context) }

    /// Length of the digest, in bytes.
    public static let size = 20

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe PlainMemory.update(&context, bytes, by: SHA1_Update)
    }

    /// The digest of everything so far, 20 bytes; the state stays as it is.
    public var digest: [UInt8] { unsafe PlainMemory.digest(context, Self.size, by: SHA1_Final) }
}
