internal import COpenSSL
internal import FoundationEssentials
internal import Glibc

/// An RSA key pair for a test.
public final class TestKey: @unchecked Sendable {
    // Sendable because nothing changes it after `init`.
    private let key: OpaquePointer

    /// Generates a key.
    public init(bits: Int32 = 2048) throws {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            EVP_PKEY_generate(context, &made) == 1, let made
        else { throw OpenSSLError() }
        key = made
    }

    deinit { EVP_PKEY_free(key) }

    /// OpenSSL failed.
    public struct OpenSSLError: Error {}

    /// `-----BEGIN PUBLIC KEY-----`.
    public var pem: String {
        let sink = BIO_new(BIO_s_mem())
        defer { BIO_free(sink) }
        PEM_write_bio_PUBKEY(sink, key)
        var text = [UInt8](repeating: 0, count: 1 << 14)
        let count = BIO_read(sink, &text, Int32(text.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }

    /// Decrypts what was encrypted with the public key.
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

/// Decrypts and unpacks an archive with the commands `openssl` and `tar`, as its receiver would.
public func decryptedArchive(_ archive: [UInt8], key: [UInt8], initialVector: [UInt8]) throws
    -> [UInt8]
{
    let folder = TemporaryFolder()
    try Data(archive).write(to: URL(filePath: "\(folder.path)/sealed"))
    let status = system(
        """
        cd '\(folder.path)' && openssl enc -d -aes-256-cbc -K \(hexadecimal(key)) \
        -iv \(hexadecimal(initialVector)) -in sealed | tar xz
        """)
    guard status == 0 else { throw CommandFailed() }
    return Array(try Data(contentsOf: URL(filePath: "\(folder.path)/export.json")))
}

/// One of the commands failed.
private struct CommandFailed: Error {}

/// The bytes as two digits each.
public func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
}
