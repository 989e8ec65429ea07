import COpenSSL
import Glibc

// C boundary: every object of OpenSSL is owned by an `OpenSSLObject` or freed where it was made, and texts are copied
// inside the calls.

/// Creates a self-signed certificate for trying TLS on a local machine.
public enum DevelopmentCertificate {
    /// The names that every certificate gets.
    private static let localNames = ["localhost", "127.0.0.1", "::1"]
    /// The validity; clients accept at most 398 days.
    private static let days = 365

    /// Writes `cert.pem` and `key.pem`, with a P-256 key, into an existing folder.
    ///
    /// - Parameter hosts: Host names and addresses in addition to `localhost`, `127.0.0.1` and `::1`.
    /// - Throws: ``TLSConfigurationError`` for an invalid name, and when a file exists or cannot be written.
    public static func write(to folder: String, hosts: [String]) throws(TLSConfigurationError)
        -> TLSConfiguration.CertificateFiles
    {
        for host in hosts where !isName(host) {
            throw TLSConfigurationError("\(host) is neither a host name nor an address")
        }
        let files = TLSConfiguration.CertificateFiles(
            chain: "\(folder)/cert.pem", key: "\(folder)/key.pem")
        var names = localNames
        for host in hosts where !names.contains(host) { names.append(host) }
        guard let key = makeKey(), let certificate = make(names, key) else {
            ERR_clear_error()
            throw TLSConfigurationError("OpenSSL cannot create a certificate")
        }
        try unsafe write(files.key, mode: 0o600) { bio in
            unsafe PEM_write_bio_PrivateKey(bio, key.pointer, nil, nil, 0, nil, nil)
        }
        try unsafe write(files.chain, mode: 0o644) { bio in
            unsafe PEM_write_bio_X509(bio, certificate.pointer)
        }
        return files
    }

    private static func isAddress(_ host: String) -> Bool {
        SocketAddress.parseIPv4(host) != nil || SocketAddress.parseIPv6(host) != nil
    }

    private static func isName(_ host: String) -> Bool {
        // The names are put into a comma-separated list, so no other character is allowed.
        isAddress(host)
            || !host.isEmpty && host.utf8.count <= 253
                && host.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                        || (0x61...0x7A).contains(byte)
                        || byte == 0x2D || byte == 0x2E || byte == 0x2A
                }
    }

    private static func makeKey() -> OpenSSLObject? {
        guard let maker = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(maker) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(maker) == 1,
            unsafe EVP_PKEY_CTX_set_ec_paramgen_curve_nid(maker, NID_X9_62_prime256v1) == 1,
            unsafe EVP_PKEY_generate(maker, &key) == 1, let key = unsafe key
        else { return nil }
        return unsafe OpenSSLObject(key, EVP_PKEY_free)
    }

    private static func make(_ names: [String], _ key: OpenSSLObject) -> OpenSSLObject? {
        guard let made = unsafe X509_new() else { return nil }
        let certificate = unsafe OpenSSLObject(made, X509_free)
        let pointer = unsafe certificate.pointer
        var serial: UInt64 = 0
        let subject = unsafe X509_get_subject_name(pointer)
        // Valid from a day ago, because clocks of containers differ.
        guard unsafe RAND_bytes(&serial, 7) == 1,
            unsafe X509_set_version(pointer, 2) == 1,
            unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), serial) == 1,
            unsafe X509_gmtime_adj(X509_getm_notBefore(pointer), -86_400) != nil,
            unsafe X509_gmtime_adj(X509_getm_notAfter(pointer), days * 86_400) != nil,
            unsafe X509_set_pubkey(pointer, key.pointer) == 1,
            unsafe X509_NAME_add_entry_by_txt(
                subject, "CN", MBSTRING_UTF8, names[0], -1, -1, 0) == 1,
            unsafe X509_set_issuer_name(pointer, subject) == 1
        else { return nil }
        let list = names.map { name in (isAddress(name) ? "IP:" : "DNS:") + name }
        let extensions = [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_subject_alt_name, list.joined(separator: ",")),
        ]
        for (kind, value) in extensions {
            guard let part = unsafe X509V3_EXT_conf_nid(nil, nil, kind, value) else { return nil }
            defer { unsafe X509_EXTENSION_free(part) }
            guard unsafe X509_add_ext(pointer, part, -1) == 1 else { return nil }
        }
        return unsafe X509_sign(pointer, key.pointer, EVP_sha256()) > 0 ? certificate : nil
    }

    private static func write(
        _ name: String, mode: mode_t, _ put: (OpaquePointer) -> Int32
    ) throws(TLSConfigurationError) {
        let descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            throw TLSConfigurationError(
                "\(name) cannot be written: \(unsafe String(cString: strerror(errno)))")
        }
        guard let bio = unsafe BIO_new_fd(descriptor, BIO_CLOSE) else {
            close(descriptor)
            throw TLSConfigurationError("\(name) cannot be written")
        }
        let result = unsafe put(bio)
        guard unsafe BIO_free(bio) == 1, result == 1 else {
            throw TLSConfigurationError("\(name) cannot be written")
        }
    }
}
