import COpenSSL

/// Message authentication codes: HMAC (RFC 2104).
public enum Signature {
    /// The hash function of a code.
    public enum Kind: Sendable {
        /// 20 bytes; for protocols that require it.
        case sha1
        /// 32 bytes.
        case sha256
    }

    /// The HMAC-SHA256 of a text, 32 bytes, with a key of any length.
    public static func of(_ text: String, key: [UInt8]) -> [UInt8] {
        of(Array(text.utf8), key: key, by: .sha256)
    }

    /// The HMAC of bytes with a key of any length.
    public static func of(_ bytes: [UInt8], key: [UInt8], by kind: Kind) -> [UInt8] {
        // OpenSSL owns both descriptions, which live as long as the program.
        let digest = unsafe kind == .sha1 ? EVP_sha1() : EVP_sha256()
        var code = [UInt8](repeating: 0, count: kind == .sha1 ? 20 : 32)
        // Key, bytes and code are arrays that outlive the call; the code is as long as its digest.
        unsafe code.withUnsafeMutableBufferPointer { code in
            _ = unsafe HMAC(
                digest, key, Int32(key.count), bytes, bytes.count, code.baseAddress, nil)
        }
        return code
    }

    /// Compares in constant time: the duration does not depend on where the arrays differ.
    public static func matches(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        // Both arrays have that many bytes and live through the call.
        return unsafe CRYPTO_memcmp(one, other, one.count) == 0
    }
}
