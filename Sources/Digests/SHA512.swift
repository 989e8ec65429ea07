import COpenSSL

/// A running SHA-512.
public struct SHA512: RunningDigest {
    private var context = SHA512_CTX()

    /// Starts over no bytes.
    public init() { unsafe SHA512_Init(&context) }

    /// Length of the digest, in bytes.
    public static let size = 64

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe PlainMemory.update(&context, bytes, by: SHA512_Update)
    }

    /// The digest of everything so far, 64 bytes; the state stays as it is.
    public var digest: [UInt8] { unsafe PlainMemory.digest(context, Self.size, by: SHA512_Final) }
}
