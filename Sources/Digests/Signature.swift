import COpenSSL

/// HMAC-SHA256 of short texts (RFC 2104).
public enum Signature {
    /// The 32 bytes of the code; keys of any length.
    public static func of(_ text: String, key: [UInt8]) -> [UInt8] {
        let bytes = Array(text.utf8)
        var code = [UInt8](repeating: 0, count: 32)
        // Key, text and code are arrays that outlive the call; the code has room for SHA-256.
        unsafe code.withUnsafeMutableBufferPointer { code in
            _ = unsafe HMAC(
                EVP_sha256(), key, Int32(key.count), bytes, bytes.count, code.baseAddress, nil)
        }
        return code
    }

    /// Compares in a time that does not depend on where they differ.
    public static func matches(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return unsafe CRYPTO_memcmp(one, other, one.count) == 0
    }
}
