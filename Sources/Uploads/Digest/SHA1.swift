import COpenSSL

/// A running SHA-1, for clients that state it of the body they send (§6.8); nothing rests on it.
///
/// Never stored: it lives as long as one request.
struct SHA1: Sendable {
    private var context: SHA_CTX

    init() {
        context = SHA_CTX()
        unsafe SHA1_Init(&context)
    }

    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe SHA1_Update(&context, bytes.baseAddress, bytes.count)
        }
    }

    /// The digest of everything so far, 20 bytes; the state stays as it is.
    var digest: [UInt8] {
        var copy = context
        var digest = [UInt8](repeating: 0, count: 20)
        unsafe digest.withUnsafeMutableBufferPointer { digest in
            _ = unsafe SHA1_Final(digest.baseAddress, &copy)
        }
        return digest
    }
}
