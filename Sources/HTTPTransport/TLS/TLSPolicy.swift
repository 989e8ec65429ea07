import COpenSSL

// C boundary: OpenSSL copies texts and takes references to certificates and keys inside the calls.

/// The TLS policy of all handshakes (H159–H162; RFC 9325).
enum TLSPolicy {
    /// The cipher suites of TLS 1.2: only forward secrecy and authenticated encryption.
    private static let suites12 = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    ].joined(separator: ":")
    private static let suites13 = [
        "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
    ].joined(separator: ":")
    /// The signature algorithms, ours and those of clients: without SHA-1.
    private static let signatures = [
        "ECDSA+SHA256", "ECDSA+SHA384", "ed25519", "rsa_pss_rsae_sha256", "rsa_pss_rsae_sha384",
        "rsa_pss_rsae_sha512", "rsa_pss_pss_sha256", "rsa_pss_pss_sha384", "rsa_pss_pss_sha512",
        "RSA+SHA256", "RSA+SHA384", "RSA+SHA512",
    ].joined(separator: ":")
    private static let groups = "X25519:P-256:P-384"

    /// Creates a context for a certificate.
    ///
    /// - Parameter ticketLifetime: Seconds.
    static func context(
        _ configuration: TLSConfiguration, _ certificate: Certificate, ticketLifetime: Int
    ) throws(TLSConfigurationError) -> OpenSSLObject {
        guard let made = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw TLSConfigurationError("OpenSSL cannot create a context")
        }
        let context = unsafe OpenSSLObject(made, SSL_CTX_free)
        let pointer = unsafe context.pointer
        // `SSL_CTX_new` reads the system's configuration file; these calls override it.
        unsafe SSL_CTX_set_security_level(pointer, 2)
        unsafe tls_set_manners(pointer, configuration.hasTickets ? 1 : 0)
        guard unsafe tls_limit_versions(pointer) == 1,
            unsafe SSL_CTX_set_cipher_list(pointer, suites12) == 1,
            unsafe SSL_CTX_set_ciphersuites(pointer, suites13) == 1,
            // The hybrid group exists since OpenSSL 3.5.
            unsafe tls_set_groups(pointer, "X25519MLKEM768:" + groups) == 1
                || tls_set_groups(pointer, groups) == 1,
            unsafe tls_set_signatures(pointer, signatures) == 1,
            unsafe SSL_CTX_set_max_early_data(pointer, 0) == 1,
            unsafe SSL_CTX_set_num_tickets(pointer, configuration.hasTickets ? 2 : 0) == 1
        else { throw fault("this OpenSSL does not support the TLS policy") }
        _ = unsafe SSL_CTX_set_timeout(pointer, ticketLifetime)
        guard unsafe SSL_CTX_use_certificate(pointer, certificate.chain[0].pointer) == 1,
            unsafe SSL_CTX_use_PrivateKey(pointer, certificate.key.pointer) == 1,
            certificate.chain.dropFirst().allSatisfy({ issuer in
                unsafe tls_add_to_chain(pointer, issuer.pointer) == 1
            })
        else { throw fault("OpenSSL refuses the certificate") }
        ERR_clear_error()
        return context
    }

    private static func fault(_ text: String) -> TLSConfigurationError {
        var reason = [CChar](repeating: 0, count: 256)
        unsafe ERR_error_string_n(ERR_peek_last_error(), &reason, reason.count)
        ERR_clear_error()
        let bytes = reason.prefix { byte in byte != 0 }.map(UInt8.init(bitPattern:))
        return TLSConfigurationError("\(text) (\(String(decoding: bytes, as: UTF8.self)))")
    }
}
