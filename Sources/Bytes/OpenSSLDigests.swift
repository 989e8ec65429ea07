import COpenSSL

// C boundary: every pointer to a context, to input or to a digest is used only inside the call; see ``DigestContext``.

/// A running MD5 digest whose state can be stored and resumed. Detects corruption, not forgery.
public struct MD5: RunningDigest {
    private var context = MD5_CTX()

    /// A digest of no bytes.
    public init() { unsafe MD5_Init(&context) }

    /// Resumes a stored ``state``; `nil` when its size does not match this machine's layout.
    public init?(state: [UInt8]) {
        guard let context = unsafe DigestContext.value(state, as: MD5_CTX.self) else { return nil }
        self.context = context
    }

    /// The state for storage, 92 bytes, in this machine's layout.
    public var state: [UInt8] { unsafe DigestContext.bytes(of: context) }

    /// Length of the digest, in bytes.
    public static let size = 16

    /// Adds bytes to the digest.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe DigestContext.update(&context, bytes, by: MD5_Update)
    }

    /// The digest of all bytes so far, 16 bytes; more bytes may follow.
    public var digest: [UInt8] { unsafe DigestContext.digest(context, Self.size, by: MD5_Final) }
}

/// A running SHA-1 digest, for protocols that require it. Not collision resistant.
public struct SHA1: RunningDigest {
    private var context = SHA_CTX()

    /// A digest of no bytes.
    public init() { unsafe SHA1_Init(&context) }

    /// Length of the digest, in bytes.
    public static let size = 20

    /// Adds bytes to the digest.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe DigestContext.update(&context, bytes, by: SHA1_Update)
    }

    /// The digest of all bytes so far, 20 bytes; more bytes may follow.
    public var digest: [UInt8] { unsafe DigestContext.digest(context, Self.size, by: SHA1_Final) }
}

/// A running SHA-256 digest whose state can be stored and resumed.
public struct SHA256: RunningDigest {
    private var context = SHA256_CTX()

    /// A digest of no bytes.
    public init() { unsafe SHA256_Init(&context) }

    /// Resumes a stored ``state``; `nil` when its size does not match this machine's layout.
    public init?(state: [UInt8]) {
        guard let context = unsafe DigestContext.value(state, as: SHA256_CTX.self) else {
            return nil
        }
        self.context = context
    }

    /// The state for storage, 112 bytes, in this machine's layout.
    public var state: [UInt8] { unsafe DigestContext.bytes(of: context) }

    /// Length of the digest, in bytes.
    public static let size = 32

    /// Adds bytes to the digest.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe DigestContext.update(&context, bytes, by: SHA256_Update)
    }

    /// The digest of all bytes so far, 32 bytes; more bytes may follow.
    public var digest: [UInt8] { unsafe DigestContext.digest(context, Self.size, by: SHA256_Final) }
}

/// A running SHA-512 digest.
public struct SHA512: RunningDigest {
    private var context = SHA512_CTX()

    /// A digest of no bytes.
    public init() { unsafe SHA512_Init(&context) }

    /// Length of the digest, in bytes.
    public static let size = 64

    /// Adds bytes to the digest.
    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe DigestContext.update(&context, bytes, by: SHA512_Update)
    }

    /// The digest of all bytes so far, 64 bytes; more bytes may follow.
    public var digest: [UInt8] { unsafe DigestContext.digest(context, Self.size, by: SHA512_Final) }
}

/// Access to OpenSSL's low-level digest contexts, C structures of a published layout that EVP would
/// hide.
///
/// Safe for these types only: fixed-size arrays of numbers without pointers, for which every bit
/// pattern is valid. Arguments of the C functions outlive the calls, and a context does not keep
/// the address of its input.
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

    /// Adds bytes to a context by its C function.
    @unsafe static func update<Context>(
        _ context: inout Context, _ bytes: Span<UInt8>,
        by take: (UnsafeMutablePointer<Context>?, UnsafeRawPointer?, Int) -> Int32
    ) {
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe take(&context, bytes.baseAddress, bytes.count)
        }
    }

    /// The digest of a context. Finishing invalidates a context, so a copy is finished.
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
