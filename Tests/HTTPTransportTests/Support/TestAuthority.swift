import COpenSSL
import Glibc
import HTTPTransport

/// Signs certificates for tests and writes them to files, which are deleted with the object.
final class TestAuthority {
    enum KeyKind { case p256, p521, rsa(Int32), ed25519 }

    /// What a certificate contains.
    struct CertificateOptions {
        var names = ["DNS:localhost"]
        var subject = "test"
        var key = KeyKind.p256
        /// Seconds from now.
        var validity = -3600...86_400
        var usage: String? = "serverAuth"
        var signsWithSHA1 = false
    }

    let folder: String
    private let key: OpaquePointer
    private let certificate: OpaquePointer
    private var count = 0
    private var written: [String] = []

    init(name: String = "test authority") {
        var path = Array("/tmp/parley-tls-XXXXXX".utf8CString)
        mkdtemp(&path)
        folder = String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        key = Self.makeKey(.p256)
        var options = CertificateOptions(names: [], subject: name, usage: nil)
        options.validity = -86_400...864_000
        certificate = Self.make(options, key, isAuthority: true)
        X509_sign(certificate, key, EVP_sha256())
        _ = write("ca.pem") { bio in PEM_write_bio_X509(bio, certificate) }
    }

    deinit {
        EVP_PKEY_free(key)
        X509_free(certificate)
        for name in written + ["cert.pem", "key.pem"] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    /// The authority's own certificate.
    var bundle: String { "\(folder)/ca.pem" }

    /// A certificate with its key and its root.
    func pair(_ change: (inout CertificateOptions) -> Void = { _ in })
        -> TLSConfiguration.CertificateFiles
    {
        count += 1
        let pair = TLSConfiguration.CertificateFiles(
            chain: "\(folder)/\(count).pem", key: "\(folder)/\(count).key")
        replace(pair, change)
        return pair
    }

    /// Replaces a certificate by another one.
    func replace(
        _ pair: TLSConfiguration.CertificateFiles,
        _ change: (inout CertificateOptions) -> Void = { _ in }
    ) {
        var options = CertificateOptions()
        change(&options)
        let leafKey = Self.makeKey(options.key)
        defer { EVP_PKEY_free(leafKey) }
        let leaf = Self.make(options, leafKey, isAuthority: false)
        defer { X509_free(leaf) }
        X509_set_issuer_name(leaf, X509_get_subject_name(certificate))
        X509_sign(leaf, key, options.signsWithSHA1 ? EVP_sha1() : EVP_sha256())
        write(pair.chain.suffix(after: folder)) { bio in
            PEM_write_bio_X509(bio, leaf)
            PEM_write_bio_X509(bio, certificate)
        }
        write(pair.key.suffix(after: folder)) { bio in
            PEM_write_bio_PrivateKey(bio, leafKey, nil, nil, 0, nil, nil)
        }
        chmod(pair.key, 0o600)
    }

    /// Writes a file into the folder atomically.
    @discardableResult func write(_ name: String, _ put: (OpaquePointer) -> Void) -> String {
        let path = "\(folder)/\(name)"
        written.append(name)
        let bio = BIO_new_file(path + ".new", "w").unsafelyUnwrapped
        put(bio)
        BIO_free(bio)
        rename(path + ".new", path)
        return path
    }

    private static func makeKey(_ kind: KeyKind) -> OpaquePointer {
        let type =
            switch kind {
            case .p256, .p521: EVP_PKEY_EC
            case .rsa: EVP_PKEY_RSA
            case .ed25519: EVP_PKEY_ED25519
            }
        let maker = EVP_PKEY_CTX_new_id(type, nil)
        defer { EVP_PKEY_CTX_free(maker) }
        EVP_PKEY_keygen_init(maker)
        switch kind {
        case .p256: EVP_PKEY_CTX_set_ec_paramgen_curve_nid(maker, NID_X9_62_prime256v1)
        case .p521: EVP_PKEY_CTX_set_ec_paramgen_curve_nid(maker, NID_secp521r1)
        case .rsa(let bits): EVP_PKEY_CTX_set_rsa_keygen_bits(maker, bits)
        case .ed25519: break
        }
        var key: OpaquePointer?
        precondition(EVP_PKEY_generate(maker, &key) == 1)
        return key.unsafelyUnwrapped
    }

    private static func make(_ options: CertificateOptions, _ key: OpaquePointer, isAuthority: Bool)
        -> OpaquePointer
    {
        let made = X509_new()
        var serial: UInt64 = 0
        RAND_bytes(&serial, 7)
        X509_set_version(made, 2)
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), serial)
        X509_gmtime_adj(X509_getm_notBefore(made), options.validity.lowerBound)
        X509_gmtime_adj(X509_getm_notAfter(made), options.validity.upperBound)
        X509_set_pubkey(made, key)
        X509_NAME_add_entry_by_txt(
            X509_get_subject_name(made), "CN", MBSTRING_UTF8, options.subject, -1, -1, 0)
        X509_set_issuer_name(made, X509_get_subject_name(made))
        var extensions = [(NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "CA:FALSE")]
        if let usage = options.usage { extensions.append((NID_ext_key_usage, usage)) }
        if !options.names.isEmpty {
            extensions.append((NID_subject_alt_name, options.names.joined(separator: ",")))
        }
        for (kind, value) in extensions {
            let part = X509V3_EXT_conf_nid(nil, nil, kind, value)
            X509_add_ext(made, part, -1)
            X509_EXTENSION_free(part)
        }
        return made.unsafelyUnwrapped
    }
}

extension String {
    /// The name of a file in a folder.
    fileprivate func suffix(after folder: String) -> String {
        String(dropFirst(folder.count + 1))
    }
}
