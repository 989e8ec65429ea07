import COpenSSL

/// A running SHA-256 whose state can be stored and taken up again.
///
/// OpenSSL's low-level context is plain memory of a published layout; EVP would hide it.
package struct SHA256: Sendable {
    private var context: SHA256_CTX

    /// Starts over no bytes.
    package init() {
        context = SHA256_CTX()
        unsafe SHA256_Init(&context)
    }

    /// Takes up a stored state; `nil` when it is not one of this machine's layout.
    init?(state: [UInt8]) {
        guard let context = unsafe PlainMemory.value(state, as: SHA256_CTX.self) else { return nil }
        self.context = context
    }

    /// The state, for storage.
    var state: [UInt8] { unsafe PlainMemory.bytes(of: context) }

    /// Takes the next bytes.
    package mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe SHA256_Update(&context, bytes.baseAddress, bytes.count)
        }
    }

    /// The digest of everything so far, 32 bytes; the state stays as it is.
    package var digest: [UInt8] {
        var copy = context
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe digest.withUnsafeMutableBufferPointer { digest in
            _ = unsafe SHA256_Final(digest.baseAddress, &copy)
        }
        return digest
    }

    /// The digest of bytes in memory.
    static func digest(of bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes.span)
        return hash.digest
    }
}
