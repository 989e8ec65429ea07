internal import COpenSSL

/// A key pair of a test, made when it is needed.
public final class TestKey: @unchecked Sendable {
    // Sendable because nothing changes it after `init`.
    private let key: OpaquePointer

    /// Makes an RSA key.
    public init(bits: Int32 = 2048) throws {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            EVP_PKEY_generate(context, &made) == 1, let made
        else { throw Mistake() }
        key = made
    }

    deinit { EVP_PKEY_free(key) }

    /// OpenSSL could not do it.
    public struct Mistake: Error {}

    /// `-----BEGIN PUBLIC KEY-----`.
    public var pem: String {
        let sink = BIO_new(BIO_s_mem())
        defer { BIO_free(sink) }
        PEM_write_bio_PUBKEY(sink, key)
        var text = [UInt8](repeating: 0, count: 1 << 14)
        let count = BIO_read(sink, &text, Int32(text.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }

    /// What was sealed with the public half.
    public func open(_ sealed: [UInt8]) -> [UInt8]? {
        let context = EVP_PKEY_CTX_new(key, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        var count = bytes.count
        guard EVP_PKEY_decrypt_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
            EVP_PKEY_decrypt(context, &bytes, &count, sealed, sealed.count) == 1
        else { return nil }
        return Array(bytes.prefix(count))
    }
}
