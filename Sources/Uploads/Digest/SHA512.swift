import COpenSSL

/// A running SHA-512, for bodies that are checked by one (§7.12).
struct SHA512: Sendable {
    private var context: SHA512_CTX

    /// Starts over no bytes.
    init() {
        context = SHA512_CTX()
        unsafe SHA512_Init(&context)
    }

    /// Takes the next bytes.
    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe SHA512_Update(&context, bytes.baseAddress, bytes.count)
        }
    }

    /// The digest of everything so far, 64 bytes.
    var digest: [UInt8] {
        var copy = context
        var digest = [UInt8](repeating: 0, count: 64)
        unsafe digest.withUnsafeMutableBufferPointer { digest in
            _ = unsafe SHA512_Final(digest.baseAddress, &copy)
        }
        return digest
    }
}
