import COpenSSL

/// A running MD5 whose state can be stored and taken up again; a checksum, and no proof.
public struct MD5: RunningDigest {
    private var context = MD5_CTX()

    /// Starts over no bytes.
    public init() { unsafe MD5_Init(&context) }

    /// Takes up a stored state; `nil` when it is not one of this machine's layout.
    public init?(state: [UInt8]) {
        guard let context = unsafe PlainMemory.value(state, as: MD5_CTX.self) else { return nil }
        self.context = context
    }

    /// The state, for storage; 92 bytes.
    public var state: [UInt8] { unsafe PlainMemory.bytes(of: context) }

    /// Length of the digest, in bytes.
    public static let size = 16

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe PlainMemory.update(&context, bytes, by: MD5_Update)
    }

    /// The digest of everything so far, 16 bytes; the state stays as it is.
    public var digest: [UInt8] { unsafe PlainMemory.digest(context, Self.size, by: MD5_Final) }
}
