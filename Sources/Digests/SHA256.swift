import COpenSSL

/// A running SHA-256 whose state can be stored and taken up again.
public struct SHA256: RunningDigest {
    private var context = SHA256_CTX()

    /// Starts over no bytes.
    public init() { unsafe SHA256_Init(&context) }

    /// Takes up a stored state; `nil` when it is not one of this machine's layout.
    public init?(state: [UInt8]) {
        guard let context = unsafe PlainMemory.value(state, as: SHA256_CTX.self) else { return nil }
        self.context = context
    }

    /// The state, for storage; 112 bytes.
    public var state: [UInt8] { unsafe PlainMemory.bytes(of: context) }

    /// Length of the digest, in bytes.
    public static let size = 32

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe PlainMemory.update(&context, bytes, by: SHA256_Update)
    }

    /// The digest of everything so far, 32 bytes; the state stays as it is.
    public var digest: [UInt8] { unsafe PlainMemory.digest(context, Self.size, by: SHA256_Final) }
}
