import COpenSSL

/// Which keys and signatures are good enough to be served (H160).
enum CertificateStrength {
    /// - Throws: ``TLSFault`` that says what is too weak.
    static func check(_ certificate: Owned, _ key: Owned, _ name: String) throws(TLSFault) {
        switch unsafe EVP_PKEY_get_base_id(key.pointer) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            let bits = unsafe EVP_PKEY_get_bits(key.pointer)
            guard bits >= 2048 else {
                throw TLSFault(
                    "the certificate \(name) has an RSA key of \(bits) bits; 2048 it must be")
            }
        case EVP_PKEY_EC:
            guard ["prime256v1", "secp384r1"].contains(curve(of: key)) else {
                throw TLSFault(
                    "the certificate \(name) has a key on a curve other than P-256 and P-384")
            }
        case EVP_PKEY_ED25519: break
        default:
            throw TLSFault(
                "the certificate \(name) has a key that is neither RSA, ECDSA nor Ed25519")
        }
        var digest: Int32 = 0
        guard unsafe X509_get_signature_info(certificate.pointer, &digest, nil, nil, nil) == 1,
            // Ed25519 signs without a digest of its own.
            [NID_sha256, NID_sha384, NID_sha512, NID_undef].contains(digest)
        else {
            throw TLSFault("the certificate \(name) is signed with a digest older than SHA-256")
        }
    }

    private static func curve(of key: Owned) -> String {
        var text = [CChar](repeating: 0, count: 64)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(key.pointer, &text, text.count, &count) == 1 else {
            return ""
        }
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
