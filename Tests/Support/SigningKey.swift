internal import COpenSSL

/// A new key pair, which signs identity tokens in tests.
public final class SigningKey: Sendable {
    /// The type of a key.
    public enum Kind: CaseIterable, Sendable {
        case rsa, smallRSA, p256, p384, ed25519
    }

    /// The type of the key.
    public let kind: Kind
    /// The public half in PEM.
    public let publicPEM: String
    private let privateDER: [UInt8]

    /// Creates a key; takes up to a second for RSA.
    public init(_ kind: Kind) {
        let type =
            switch kind {
            case .rsa, .smallRSA: EVP_PKEY_RSA
            case .p256, .p384: EVP_PKEY_EC
            case .ed25519: EVP_PKEY_ED25519
            }
        let context = EVP_PKEY_CTX_new_id(type, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        var isDone = EVP_PKEY_keygen_init(context) == 1
        switch kind {
        case .rsa: isDone = isDone && EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1
        case .smallRSA: isDone = isDone && EVP_PKEY_CTX_set_rsa_keygen_bits(context, 1024) == 1
        case .p256:
            isDone =
                isDone
                && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1
        case .p384:
            isDone = isDone && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_secp384r1) == 1
        case .ed25519: break
        }
        isDone = isDone && EVP_PKEY_keygen(context, &key) == 1
        precondition(isDone, "OpenSSL made no key")
        defer { EVP_PKEY_free(key) }
        self.kind = kind
        let text = BIO_new(BIO_s_mem())
        defer { BIO_free(text) }
        PEM_write_bio_PUBKEY(text, key)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = BIO_read(text, &bytes, Int32(bytes.count))
        publicPEM = String(decoding: bytes.prefix(Int(count)), as: UTF8.self)
        var der = [UInt8](repeating: 0, count: Int(i2d_PrivateKey(key, nil)))
        der.withUnsafeMutableBufferPointer { der in
            var place = der.baseAddress
            i2d_PrivateKey(key, &place)
        }
        privateDER = der
    }

    /// The signature of a message in the form of JSON Web Signature.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        let key = privateDER.withUnsafeBufferPointer { der in
            var place = der.baseAddress
            return d2i_AutoPrivateKey(nil, &place, der.count)
        }
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        EVP_DigestSignInit(context, nil, kind == .ed25519 ? nil : EVP_sha256(), nil, key)
        var signature = [UInt8](repeating: 0, count: 512)
        var count = signature.count
        precondition(
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1,
            "OpenSSL made no signature")
        signature.removeLast(signature.count - count)
        return kind == .p256 ? Self.plain(signature) : signature
    }

    /// Converts the ASN.1 sequence of two numbers to 64 bytes.
    private static func plain(_ sequence: [UInt8]) -> [UInt8] {
        var rest = sequence.dropFirst(2)
        var numbers: [UInt8] = []
        for _ in 0..<2 {
            let count = Int(rest[rest.startIndex + 1])
            let digits = rest.dropFirst(2).prefix(count).drop { byte in byte == 0 }
            numbers += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            rest = rest.dropFirst(2 + count)
        }
        return numbers
    }
}
