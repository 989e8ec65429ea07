internal import Bytes
import COpenSSL

/// An RSA public key of at least 2048 bits.
///
/// Boundary to C: OpenSSL reads the arrays only during a call, and every OpenSSL object is freed in
/// the function that created it.
public struct PublicKey: Sendable {
    /// The key in DER (`SubjectPublicKeyInfo`, RFC 5280 §4.1).
    public let der: [UInt8]

    /// Reads a PEM text with `-----BEGIN PUBLIC KEY-----`.
    ///
    /// `nil` for any other text, for a key that is too small, and for one that fails a test
    /// encryption.
    public init?(pem: String) {
        guard let key = VerificationKey(pem: pem), key.kind == .rsa else { return nil }
        self.init(der: key.der)
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
}
