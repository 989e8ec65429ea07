internal import Digests

/// The signature of the Layer API: HMAC-SHA1 of the body in lower-case hexadecimal digits (webhooks §3.2).
public enum LayerSignature {
    /// 40 characters.
    public static func of(_ body: [UInt8], secret: String) -> String {
        String(
            hexadecimal: Signature.of(body, key: Array(secret.utf8), by: .sha1))
    }
}
