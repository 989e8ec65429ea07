import COpenSSL

/// An RSA public key of at least 2048 bits.
///
/// Boundary to C: OpenSSL reads the arrays only during a call, and every OpenSSL object is freed in
/// the function that created it.
public struct PublicKey: Sendable {
    /// The key in DER (`SubjectPublicKeyInfo`, RFC 5280 §4.1).
    public let der: [UInt8]

    /// The smallest accepted modulus in bits.
    public static let minimumBits = 2048
    /// The largest modulus in bits that OpenSSL supports.
    static let maximumBits = 16_384
    /// The longest accepted PEM text; a key of ``maximumBits`` has about 3 KiB.
    private static let longestText = 16 << 10

    /// Reads a PEM text with `-----BEGIN PUBLIC KEY-----`.
    ///
    /// `nil` for any other text, for a key that is too small, and for one that fails a test
    /// encryption.
    public init?(pem: String) {
        let text = Array(pem.utf8)
        guard text.count <= Self.longestText,
            let der = unsafe text.withUnsafeBytes({ text in unsafe Self.der(in: text) })
        else { return nil }
        self.der = der
        guard seal([UInt8](repeating: 0, count: 32)) != nil else { return nil }
    }

    /// Reads a PEM text; its bytes must be valid during the call, because OpenSSL does not copy them.
    private static func der(in text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let source = unsafe BIO_new_mem_buf(text.baseAddress, Int32(text.count)) else {
            return nil
        }
        defer { unsafe BIO_free(source) }
        defer { ERR_clear_error() }
        // Without this callback OpenSSL asks for a passphrase at the terminal and waits.
        guard let key = unsafe PEM_read_bio_PUBKEY(source, nil, { _, _, _, _ in -1 }, nil) else {
            return nil
        }
        defer { unsafe EVP_PKEY_free(key) }
        guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA,
            (minimumBits...maximumBits).contains(Int(unsafe EVP_PKEY_get_bits(key)))
        else { return nil }
        return unsafe der(of: key)
    }

    /// Reads a key in DER; `nil` for other bytes.
    public init?(der: [UInt8]) {
        self.der = der
        guard seal([UInt8](repeating: 0, count: 32)) != nil else { return nil }
    }

    /// Encrypts a few bytes (RSAES-PKCS1-v1_5, RFC 8017 §7.2); `nil` if the key cannot be used.
    public func seal(_ bytes: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let key = unsafe opened() else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_PKEY_CTX_new(key, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_encrypt_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        else { return nil }
        var sealed = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(key)))
        var count = sealed.count
        guard unsafe EVP_PKEY_encrypt(context, &sealed, &count, bytes, bytes.count) == 1 else {
            return nil
        }
        sealed.removeLast(sealed.count - count)
        return sealed
    }

    private func opened() -> OpaquePointer? {
        unsafe der.withUnsafeBufferPointer { bytes in
            var place = bytes.baseAddress
            return unsafe d2i_PUBKEY(nil, &place, bytes.count)
        }
    }

    private static func der(of key: OpaquePointer) -> [UInt8]? {
        let length = unsafe i2d_PUBKEY(key, nil)
        guard length > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(length))
        let written = unsafe der.withUnsafeMutableBufferPointer { bytes in
            var place = bytes.baseAddress
            return unsafe i2d_PUBKEY(key, &place)
        }
        return written == length ? der : nil
    }
}
