import COpenSSL
import Glibc
import HTTP

/// A certificate with its chain and its key, read and checked.
struct Certificate: Sendable {
    /// The certificate itself, then what leads to the root, which stays at home (H171).
    let chain: [Owned]
    let key: Owned
    /// What it is good for.
    let names: CertificateNames
    /// The names as text, for people.
    let subjects: [String]
    /// Seconds since 1970.
    let validFrom: Int64
    /// Seconds since 1970.
    let expiry: Int64
    /// SHA-256 of the certificate.
    let digest: [UInt8]
    /// What its operator should hear.
    private(set) var warnings: [String] = []

    /// Reads a pair of files and looks whether they can be served.
    ///
    /// - Parameter now: Seconds since 1970.
    init(_ files: TLSConfiguration.Pair, at now: Int64, allowsExpired: Bool) throws(TLSFault) {
        let keyFile = try PEMFile(files.key)
        let read = try PEMFile(files.chain).certificates()
        let leaf = read[0]
        key = try keyFile.privateKey()
        guard unsafe X509_check_private_key(leaf.pointer, key.pointer) == 1 else {
            ERR_clear_error()
            throw TLSFault("the key \(files.key) does not belong to the certificate \(files.chain)")
        }
        chain = try Self.withoutRoot(read, files.chain)
        try CertificateStrength.check(leaf, key, files.chain)
        subjects = Self.names(of: leaf)
        names = CertificateNames(subjects)
        validFrom = unsafe Self.seconds(X509_get0_notBefore(leaf.pointer))
        expiry = unsafe Self.seconds(X509_get0_notAfter(leaf.pointer))
        digest = Self.digest(of: leaf)
        guard validFrom <= now else {
            throw TLSFault("the certificate \(files.chain) is not valid yet")
        }
        if expiry <= now {
            guard allowsExpired else {
                throw TLSFault("the certificate \(files.chain) has expired")
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

    /// Each certificate must have been issued by the next one.
    private static func withoutRoot(_ read: [Owned], _ name: String) throws(TLSFault) -> [Owned] {
        var chain = read
        if chain.count > 1, let last = chain.last, unsafe X509_self_signed(last.pointer, 0) == 1 {
            chain.removeLast()
        }
        for (issued, issuer) in zip(chain, chain.dropFirst())
        where unsafe X509_check_issued(issuer.pointer, issued.pointer) != X509_V_OK {
            throw TLSFault("the certificates in \(name) do not follow each other to the root")
        }
        return chain
    }

    /// The host names and addresses in `subjectAltName`; the subject itself is no name any more.
    private static func names(of leaf: Owned) -> [String] {
        let found = unsafe X509_get_ext_d2i(leaf.pointer, NID_subject_alt_name, nil, nil)
        guard let found = unsafe found else { return [] }
        let all = OpaquePointer(found)
        defer { unsafe GENERAL_NAMES_free(all) }
        let count = unsafe tls_name_count(all)
        return (0..<count).compactMap { index in
            var start: UnsafePointer<UInt8>?
            var count: Int32 = 0
            let kind = unsafe tls_name(all, index, &start, &count)
            let octets = unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
            switch kind {
            case GEN_DNS: return String(decoding: octets, as: UTF8.self)
            case GEN_IPADD: return address(octets)
            default: return nil
            }
        }
    }

    private static func address(_ octets: [UInt8]) -> String? {
        switch octets.count {
        case 4: octets.map(String.init).joined(separator: ".")
        case 16:
            SocketAddress.formatIPv6(IPv6Address(high: bits(octets[..<8]), low: bits(octets[8...])))
        default: nil
        }
    }

    private static func bits(_ octets: ArraySlice<UInt8>) -> UInt64 {
        octets.reduce(0) { bits, octet in bits << 8 | UInt64(octet) }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return Int64(unsafe timegm(&parts))
    }

    private static func digest(of leaf: Owned) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = unsafe X509_digest(leaf.pointer, EVP_sha256(), &digest, nil)
        return digest
    }
}
