import COpenSSL

/// Who may sign the certificates that clients show (H167).
struct ClientAuthorities {
    private let certificates: [Owned]
    private let isRequired: Bool
    /// Changes with the bundle and with the policy: sessions from before it are not resumed (H164).
    let digest: [UInt8]

    /// How many certificates may stand between a client's and an authority.
    private static let depth: Int32 = 3

    /// Reads the bundle; `nil` where clients are not asked.
    init?(_ configuration: TLSConfiguration) throws(TLSFault) {
        guard configuration.clientCertificates != .off else { return nil }
        guard let bundle = configuration.clientBundle else {
            throw TLSFault("client certificates need a bundle of the authorities that sign them")
        }
        let file = try PEMFile(bundle)
        certificates = try file.certificates()
        isRequired = configuration.clientCertificates == .required
        digest = file.digest + [isRequired ? 1 : 0]
    }

    /// Has a context ask for certificates.
    func apply(to context: Owned) throws(TLSFault) {
        let store = unsafe SSL_CTX_get_cert_store(context.pointer)
        for certificate in certificates {
            guard unsafe X509_STORE_add_cert(store, certificate.pointer) == 1,
                unsafe SSL_CTX_add_client_CA(context.pointer, certificate.pointer) == 1
            else { throw TLSFault("the bundle of client authorities cannot be used") }
        }
        let mode = SSL_VERIFY_PEER | (isRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
        unsafe SSL_CTX_set_verify(context.pointer, mode, nil)
        unsafe SSL_CTX_set_verify_depth(context.pointer, Self.depth)
    }
}
