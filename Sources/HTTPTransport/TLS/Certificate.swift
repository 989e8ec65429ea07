import COpenSSL
import Glibc
import HTTP

// C boundary: certificates and keys are owned by their objects, which outlive every pointer into them, and OpenSSL writes
// at most the size of an array.

/// A certificate in use, for metrics (H166).
public struct ServedCertificate: Sendable, Equatable {
    /// The file of the certificate.
    public let file: String
    /// The host names and addresses in the certificate.
    public let names: [String]
    /// The time at which it expires, in seconds since 1970.
    public let expiry: Int64
}

/// A validated certificate with its chain and its private key.
struct Certificate: Sendable {
    /// The certificate, then its issuers without the root, which is not sent (H171).
    let chain: [OpenSSLObject]
    let key: OpenSSLObject
    /// The host names for which it is valid.
    let names: CertificateNames
    /// The names as text.
    let subjects: [String]
    /// Seconds since 1970.
    private let validFrom: Int64
    /// Seconds since 1970.
    let expiry: Int64
    /// The SHA-256 digest of the certificate.
    let digest: [UInt8]
    /// Warnings for the operator.
    private(set) var warnings: [String] = []

    /// Reads and validates a certificate and its key.
    ///
    /// - Parameter now: Seconds since 1970.
    init(_ files: TLSConfiguration.CertificateFiles, at now: Int64, allowsExpired: Bool)
        throws(TLSConfigurationError)
    {
        let keyFile = try PEMFile(files.key)
        let read = try PEMFile(files.chain).certificates()
        let leaf = read[0]
        key = try keyFile.privateKey()
        guard unsafe X509_check_private_key(leaf.pointer, key.pointer) == 1 else {
            ERR_clear_error()
            throw TLSConfigurationError(
                "the key \(files.key) does not belong to the certificate \(files.chain)")
        }
        chain = try Self.withoutRoot(read, files.chain)
        try CertificateStrength.check(leaf, key, files.chain)
        subjects = Self.names(of: leaf)
        names = CertificateNames(subjects)
        validFrom = unsafe Self.seconds(X509_get0_notBefore(leaf.pointer))
        expiry = unsafe Self.seconds(X509_get0_notAfter(leaf.pointer))
        digest = Self.digest(of: leaf)
        guard validFrom <= now else {
            throw TLSConfigurationError("the certificate \(files.chain) is not valid yet")
        }
        if expiry <= now {
            guard allowsExpired else {
                throw TLSConfigurationError("the certificate \(files.chain) has expired")
            }
            warnings.append("the certificate \(files.chain) has expired and is served all the same")
        }
        if keyFile.isReadableByOthers {
            warnings.append("every user of this machine may read the key \(files.key)")
        }
        if subjects.isEmpty {
            warnings.append("the certificate \(files.chain) names no host")
        }
    }

    /// Removes the root, and requires that each certificate was issued by the next one.
    private static func withoutRoot(_ read: [OpenSSLObject], _ name: String)
        throws(TLSConfigurationError) -> [OpenSSLObject]
    {
        var chain = read
        if chain.count > 1, let last = chain.last, unsafe X509_self_signed(last.pointer, 0) == 1 {
            chain.removeLast()
        }
        for (issued, issuer) in zip(chain, chain.dropFirst())
        where unsafe X509_check_issued(issuer.pointer, issued.pointer) != X509_V_OK {
            throw TLSConfigurationError(
                "the certificates in \(name) are not in order: each must be issued by the next one")
        }
        return chain
    }

    /// The host names and addresses in `subjectAltName`; the common name is not used.
    private static func names(of leaf: OpenSSLObject) -> [String] {
        let found = unsafe X509_get_ext_d2i(leaf.pointer, NID_subject_alt_name, nil, nil)
        guard let found = unsafe found else { return [] }
        let all = OpaquePointer(found)
        defer { unsafe GENERAL_NAMES_free(all) }
        let count = unsafe tls_name_count(all)
        return (0..<count).compactMap { index in
            var start: UnsafePointer<UInt8>?
            var count: Int32 = 0
            let kind = unsafe tls_name(all, index, &start, &count)
            let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
            switch kind {
            case GEN_DNS: return String(decoding: bytes, as: UTF8.self)
            case GEN_IPADD: return address(bytes)
            default: return nil
            }
        }
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        switch bytes.count {
        case 4: bytes.map(String.init).joined(separator: ".")
        case 16:
            SocketAddress.formatIPv6(IPv6Address(high: bits(bytes[..<8]), low: bits(bytes[8...])))
        default: nil
        }
    }

    private static func bits(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { bits, byte in bits << 8 | UInt64(byte) }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return Int64(unsafe timegm(&parts))
    }

    private static func digest(of leaf: OpenSSLObject) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = unsafe X509_digest(leaf.pointer, EVP_sha256(), &digest, nil)
        return digest
    }
}

/// The requirements for keys and signatures of certificates (H160).
enum CertificateStrength {
    /// Validates a certificate and its key.
    ///
    /// - Throws: ``TLSConfigurationError`` that names the weakness.
    static func check(_ certificate: OpenSSLObject, _ key: OpenSSLObject, _ name: String)
        throws(TLSConfigurationError)
    {
        switch unsafe EVP_PKEY_get_base_id(key.pointer) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            let bits = unsafe EVP_PKEY_get_bits(key.pointer)
            guard bits >= 2048 else {
                throw TLSConfigurationError(
                    "the certificate \(name) has an RSA key of \(bits) bits; at least 2048 are required"
                )
            }
        case EVP_PKEY_EC:
            guard ["prime256v1", "secp384r1"].contains(curve(of: key)) else {
                throw TLSConfigurationError(
                    "the certificate \(name) has a key on a curve other than P-256 and P-384")
            }
        case EVP_PKEY_ED25519: break
        default:
            throw TLSConfigurationError(
                "the certificate \(name) has a key that is neither RSA, ECDSA nor Ed25519")
        }
        var digest: Int32 = 0
        guard unsafe X509_get_signature_info(certificate.pointer, &digest, nil, nil, nil) == 1,
            // Ed25519 signs without a separate digest.
            [NID_sha256, NID_sha384, NID_sha512, NID_undef].contains(digest)
        else {
            throw TLSConfigurationError(
                "the certificate \(name) is signed with a digest older than SHA-256")
        }
    }

    private static func curve(of key: OpenSSLObject) -> String {
        var text = [CChar](repeating: 0, count: 64)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(key.pointer, &text, text.count, &count) == 1 else {
            return ""
        }
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The host names of a certificate, with the matching rules of RFC 6125 §6.4.
struct CertificateNames: Sendable {
    /// Host names without wildcards, in lower case; addresses in their text form.
    private(set) var exact: Set<String> = []
    /// The wildcard names without their `*`: `.example.com`.
    private(set) var wildcards: Set<String> = []

    /// Reads the names of a certificate; a `*` anywhere else than as the whole first label is ignored (H163).
    init(_ names: [String]) {
        for name in names.map(Self.folded) {
            if name.hasPrefix("*.") {
                let parent = name.dropFirst()
                if !parent.dropFirst().isEmpty, !parent.contains("*") {
                    wildcards.insert(String(parent))
                }
            } else if !name.isEmpty, !name.contains("*") {
                exact.insert(name)
            }
        }
    }

    /// Whether a host in lower case matches a name, or a wildcard with exactly one label.
    func covers(_ host: String) -> Bool {
        exact.contains(host) || Self.parent(host).map(wildcards.contains) == true
    }

    /// `.example.com` of `chat.example.com`; `nil` without a dot or a first label.
    static func parent(_ host: String) -> String? {
        guard let dot = host.utf8.firstIndex(of: UInt8(ascii: ".")), dot != host.startIndex else {
            return nil
        }
        return String(host[dot...])
    }

    /// The name with ASCII letters in lower case; other bytes do not change.
    static func folded(_ name: some StringProtocol) -> String {
        String(
            decoding: name.utf8.map { byte in
                (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            }, as: UTF8.self)
    }
}
