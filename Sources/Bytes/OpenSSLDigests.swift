import COpenSSL

/// A running MD5 whose state can be stored and taken up again; a checksum, and no proof.
public struct MD5: RunningDigest {
    private var context = MD5_CTX()

    /// Starts over no bytes.
    public init() { unsafe MD5_Init(&context) }

    /// Takes up a stored state; `nil` when it is not one of this machine's layout.
    public init?(state: [UInt8]) {
        guard let context = unsafe DigestContext.value(state, as: MD5_CTX.self) else { return nil }
        self.context = context
    }

    /// The state, for storage; 92 bytes.
    public var state: [UInt8] { unsafe DigestContext.bytes(of: context) }

    /// Length of the digest, in bytes.
    public static let size = 16

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe DigestContext.update(&context, bytes, by: MD5_Update)
    }

    /// The digest of everything so far, 16 bytes; the state stays as it is.
    public var digest: [UInt8] { unsafe DigestContext.digest(context, Self.size, by: MD5_Final) }
}

/// A running SHA-1, for protocols that name it; nothing rests on it.
public struct SHA1: RunningDigest {
    private var context = SHA_CTX()

    /// Starts over no bytes.
    public init() { unsafe SHA1_Init(&context) }

    /// Length of the digest, in bytes.
    public static let size = 20

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe DigestContext.update(&context, bytes, by: SHA1_Update)
    }

    /// The digest of everything so far, 20 bytes; the state stays as it is.
    public var digest: [UInt8] { unsafe DigestContext.digest(context, Self.size, by: SHA1_Final) }
}

/// A running SHA-256 whose state can be stored and taken up again.
public struct SHA256: RunningDigest {
    private var context = SHA256_CTX()

    /// Starts over no bytes.
    public init() { unsafe SHA256_Init(&context) }

    /// Takes up a stored state; `nil` when it is not one of this machine's layout.
    public init?(state: [UInt8]) {
        guard let context = unsafe DigestContext.value(state, as: SHA256_CTX.self) else {
            return nil
        }
        self.context = context
    }

    /// The state, for storage; 112 bytes.
    public var state: [UInt8] { unsafe DigestContext.bytes(of: context) }

    /// Length of the digest, in bytes.
    public static let size = 32

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe DigestContext.update(&context, bytes, by: SHA256_Update)
    }

    /// The digest of everything so far, 32 bytes; the state stays as it is.
    public var digest: [UInt8] { unsafe DigestContext.digest(context, Self.size, by: SHA256_Final) }
}

/// A running SHA-512.
public struct SHA512: RunningDigest {
    private var context = SHA512_CTX()

    /// Starts over no bytes.
    public init() { unsafe SHA512_Init(&context) }

    /// Length of the digest, in bytes.
    public static let size = 64

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe DigestContext.update(&context, bytes, by: SHA512_Update)
    }

    /// The digest of everything so far, 64 bytes; the state stays as it is.
    public var digest: [UInt8] { unsafe DigestContext.digest(context, Self.size, by: SHA512_Final) }
}

/// OpenSSL's low-level digest contexts: C structures of a published layout, which EVP would hide.
///
/// Sound for these only: numbers in fixed arrays, without pointers, every bit pattern a value. What a
/// C function is handed outlives the call, and a context takes bytes without keeping their address.
enum DigestContext {
    @unsafe static func bytes<Context: BitwiseCopyable>(of context: Context) -> [UInt8] {
        unsafe withUnsafeBytes(of: context) { bytes in unsafe Array(bytes) }
    }

    @unsafe static func value<Context: BitwiseCopyable>(
        _ bytes: [UInt8], as type: Context.Type
    ) -> Context? {
        guard bytes.count == MemoryLayout<Context>.size else { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: type) }
    }

    /// Has a context take the next bytes.
    @unsafe static func update<Context>(
        _ context: inout Context, _ bytes: Span<UInt8>,
        by take: (UnsafeMutablePointer<Context>?, UnsafeRawPointer?, Int) -> Int32
    ) {
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe take(&context, bytes.baseAddress, bytes.count)
        }
    }

    /// The digest of so many bytes that a context ends in; ending spoils it, so a copy does.
    @unsafe static func digest<Context>(
        _ context: Context, _ size: Int,
        by end: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Context>?) -> Int32
    ) -> [UInt8] {
        var copy = context
        var digest = [UInt8](repeating: 0, count: size)
        _ = unsafe end(&digest, &copy)
        return digest
    }
}
