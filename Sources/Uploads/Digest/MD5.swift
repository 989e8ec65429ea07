import COpenSSL

/// A running MD5 whose state can be stored and taken up again.
///
/// OpenSSL's low-level context is plain memory of a published layout; EVP would hide it.
struct MD5: Sendable {
    private var context: MD5_CTX

    init() {
        context = MD5_CTX()
        unsafe MD5_Init(&context)
    }

    /// Takes up a stored state; `nil` when it is not one of this machine's layout.
    init?(state: [UInt8]) {
        guard let context = unsafe PlainMemory.value(state, as: MD5_CTX.self) else { return nil }
        self.context = context
    }

    /// The state, for storage.
    var state: [UInt8] { unsafe PlainMemory.bytes(of: context) }

    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe MD5_Update(&context, bytes.baseAddress, bytes.count)
        }
    }

    /// The digest of everything so far, 16 bytes; the state stays as it is.
    var digest: [UInt8] {
        var copy = context
        var digest = [UInt8](repeating: 0, count: 16)
        unsafe digest.withUnsafeMutableBufferPointer { digest in
            _ = unsafe MD5_Final(digest.baseAddress, &copy)
        }
        return digest
    }

    /// The digest of bytes in memory.
    static func digest(of bytes: [UInt8]) -> [UInt8] {
        var hash = MD5()
        hash.update(bytes.span)
        return hash.digest
    }
}
