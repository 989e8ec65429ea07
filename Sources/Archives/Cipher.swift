import COpenSSL

/// Encrypts a stream with AES-256 in CBC mode, with the padding of PKCS#7 (RFC 5652 §6.3).
///
/// Boundary to C: the OpenSSL context lives from `init` to `deinit` and is never shared, and
/// OpenSSL writes at most the length of the input plus one block into an output array.
@safe final class Cipher {
    private let context: OpaquePointer
    private static let block = 16

    init(key: [UInt8], initialVector: [UInt8]) {
        precondition(key.count == 32 && initialVector.count == Self.block)
        guard let context = unsafe EVP_CIPHER_CTX_new(),
            unsafe EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), nil, key, initialVector) == 1
        else { preconditionFailure("OpenSSL has no AES-256-CBC") }
        unsafe self.context = context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Encrypts the next bytes and returns the finished blocks.
    func encrypt(_ bytes: [UInt8]) -> [UInt8] {
        // OpenSSL counts in 32 bits; streamed pieces are far smaller.
        precondition(bytes.count <= Int(Int32.max) - Self.block, "a piece of 2 GiB")
        return unsafe [UInt8](unsafeUninitializedCapacity: bytes.count + Self.block) {
            free, count in
            var written: Int32 = 0
            let done = unsafe EVP_EncryptUpdate(
                context, free.baseAddress, &written, bytes, Int32(bytes.count))
            precondition(done == 1, "OpenSSL cannot encrypt any more")
            count = Int(written)
        }
    }

    /// Returns the last block; call once.
    func finish() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.block) { free, count in
            var written: Int32 = 0
            let done = unsafe EVP_EncryptFinal_ex(context, free.baseAddress, &written)
            precondition(done == 1, "a stream is finished twice")
            count = Int(written)
        }
    }
}
