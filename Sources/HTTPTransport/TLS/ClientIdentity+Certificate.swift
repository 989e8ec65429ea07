import COpenSSL
import HTTP

extension ClientIdentity {
    /// Reads the subject of a certificate that OpenSSL has verified.
    convenience init(verified certificate: OpaquePointer) {
        var text = ""
        if let bio = unsafe BIO_new(BIO_s_mem()) {
            defer { unsafe BIO_free(bio) }
            // RFC 4514: what has a meaning of its own is escaped, so that no name looks like two.
            unsafe X509_NAME_print_ex(
                bio, X509_get_subject_name(certificate), 0, tls_name_form())
            var octets = [UInt8](repeating: 0, count: 4096)
            let count = unsafe BIO_read(bio, &octets, Int32(octets.count))
            text = String(decoding: octets.prefix(Int(max(count, 0))), as: UTF8.self)
        }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = unsafe X509_digest(certificate, EVP_sha256(), &digest, nil)
        self.init(subject: text, digest: digest)
    }
}
