import COpenSSL

/// A public key: RSA, P-256 or Ed25519. It verifies signatures of JSON Web Tokens (RFC 7518 §3, RFC 8037), and an RSA key
/// also encrypts the key of an export.
///
/// Boundary to C: OpenSSL reads the arrays only during a call, and every OpenSSL object is freed in the function that
/// created it.
package struct PublicKey: Sendable {
    /// The type of a key, which selects the signature algorithm.
    package enum Kind: Sendable {
        /// RSA of at least 2048 bits: RSASSA-PKCS1-v1_5 with SHA-256.
        case rsa
        /// An elliptic curve key on P-256: ECDSA with SHA-256.
        case p256
        /// Ed25519.
        case ed25519
    }

    /// The type of the key.
    package let kind: Kind
    /// The key in DER (`SubjectPublicKeyInfo`, RFC 5280 §4.1).
    package let der: [UInt8]

    /// The allowed sizes of an RSA key in bits.
    private static let rsaBits = 2048...16_384
    /// The longest accepted PEM text; the largest RSA key has about 3 KiB.
    private static let longestText = 16 << 10

    /// Reads a PEM text with `-----BEGIN PUBLIC KEY-----`; `nil` for any other text or type of key.
    package init?(pem: String) {
        let text = Array(pem.utf8)
        guard text.count <= Self.longestText,
            let found = unsafe text.withUnsafeBytes({ text in unsafe Self.key(in: text) })
        else { return nil }
        (kind, der) = found
    }

    /// Reads a PEM text; its bytes must be valid during the call, because OpenSSL does not copy them.
    private static func key(in text: UnsafeRawBufferPointer) -> (Kind, der: [UInt8])? {
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
        guard let kind = unsafe kind(of: key), let der = unsafe der(of: key) else { return nil }
        return (kind, der)
    }

    /// Reads a key in DER; `nil` for other bytes or another type of key.
    package init?(der: [UInt8]) {
        defer { ERR_clear_error() }
        guard let key = unsafe Self.parsed(der) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let kind = unsafe Self.kind(of: key) else { return nil }
        self.kind = kind
        self.der = der
    }

    /// Whether a signature in the form of JSON Web Signature is that of a message (RFC 7515 §5.2).
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let encoded: [UInt8]
        switch kind {
        case .rsa, .ed25519: encoded = signature
        case .p256:
            guard let sequence = Self.sequence(of: signature) else { return false }
            encoded = sequence
        }
        defer { ERR_clear_error() }
        guard let key = unsafe Self.parsed(der) else { return false }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        // Ed25519 hashes the message itself. RSA uses PKCS #1 v1.5 by default.
        let digest = unsafe kind == .ed25519 ? nil : EVP_sha256()
        guard unsafe EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else { return false }
        return unsafe EVP_DigestVerify(
            context, encoded, encoded.count, message, message.count) == 1
    }

    /// Whether this is an RSA key that passes a test encryption.
    package var canEncrypt: Bool { encrypt([UInt8](repeating: 0, count: 32)) != nil }

    /// Encrypts a few bytes with an RSA key (RSAES-PKCS1-v1_5, RFC 8017 §7.2); `nil` if the key is of another type or
    /// cannot be used.
    package func encrypt(_ bytes: [UInt8]) -> [UInt8]? {
        guard kind == .rsa else { return nil }
        defer { ERR_clear_error() }
        guard let key = unsafe Self.parsed(der) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_PKEY_CTX_new(key, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_encrypt_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        else { return nil }
        var encrypted = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(key)))
        var count = encrypted.count
        guard unsafe EVP_PKEY_encrypt(context, &encrypted, &count, bytes, bytes.count) == 1 else {
            return nil
        }
        encrypted.removeLast(encrypted.count - count)
        return encrypted
    }

    private static func parsed(_ der: [UInt8]) -> OpaquePointer? {
        unsafe der.withUnsafeBufferPointer { bytes in
            var place = bytes.baseAddress
            return unsafe d2i_PUBKEY(nil, &place, bytes.count)
        }
    }

    private static func kind(of key: OpaquePointer) -> Kind? {
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA:
            return rsaBits.contains(Int(unsafe EVP_PKEY_get_bits(key))) ? .rsa : nil
        case EVP_PKEY_ED25519: return .ed25519
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else {
                return nil
            }
            let bytes = name.prefix(length).map { UInt8(bitPattern: $0) }
            return String(decoding: bytes, as: UTF8.self) == "prime256v1" ? .p256 : nil
        default: return nil
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

    /// Converts the 64 bytes of an ES256 signature to the ASN.1 sequence that OpenSSL reads (RFC 7518 §3.4).
    private static func sequence(of signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64 else { return nil }
        let numbers = integer(signature[..<32]) + integer(signature[32...])
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// Encodes an unsigned number of 32 bytes as ASN.1 INTEGER.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { byte in byte == 0 })
        // A leading zero keeps the number positive, and zero itself has one digit.
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
