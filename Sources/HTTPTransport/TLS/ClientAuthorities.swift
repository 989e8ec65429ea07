import COpenSSL
import HTTP

// C boundary: the certificates are owned by their objects, OpenSSL writes at most the size of an array, and every other
// object of OpenSSL is freed where it was made.

/// The certificate authorities of client certificates (H167).
struct ClientAuthorities {
    private let certificates: [OpenSSLObject]
    private let isRequired: Bool
    /// A digest of the bundle and the policy; sessions of another digest are not resumed (H164).
    let digest: [UInt8]

    /// The maximum number of intermediate certificates.
    private static let depth: Int32 = 3

    /// Reads the bundle; `nil` when no client certificates are requested.
    init?(_ configuration: TLSConfiguration) throws(TLSConfigurationError) {
        guard configuration.clientCertificates != .off else { return nil }
        guard let bundle = configuration.clientBundle else {
            throw TLSConfigurationError(
                "client certificates need a bundle of the authorities that sign them")
        }
        let file = try PEMFile(bundle)
        certificates = try file.certificates()
        isRequired = configuration.clientCertificates == .required
        digest = file.digest + [isRequired ? 1 : 0]
    }

    /// Makes a context request client certificates.
    func apply(to context: OpenSSLObject) throws(TLSConfigurationError) {
        let store = unsafe SSL_CTX_get_cert_store(context.pointer)
        for certificate in certificates {
            guard unsafe X509_STORE_add_cert(store, certificate.pointer) == 1,
                unsafe SSL_CTX_add_client_CA(context.pointer, certificate.pointer) == 1
            else { throw TLSConfigurationError("the bundle of client authorities cannot be used") }
        }
        let mode = SSL_VERIFY_PEER | (isRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
        unsafe SSL_CTX_set_verify(context.pointer, mode, nil)
        unsafe SSL_CTX_set_verify_depth(context.pointer, Self.depth)
    }
}

extension ClientIdentity {
    /// Reads the subject of a certificate that OpenSSL has verified.
    convenience init(verified certificate: OpaquePointer) {
        var text = ""
        if let bio = unsafe BIO_new(BIO_s_mem()) {
            defer { unsafe BIO_free(bio) }
            // RFC 4514 escapes special characters, so that two names cannot look the same.
            unsafe X509_NAME_print_ex(
                bio, X509_get_subject_name(certificate), 0, tls_name_form())
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe BIO_read(bio, &bytes, Int32(bytes.count))
            text = String(decoding: bytes.prefix(Int(max(count, 0))), as: UTF8.self)
        }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = unsafe X509_digest(certificate, EVP_sha256(), &digest, nil)
        self.init(subject: text, digest: digest)
    }
}
