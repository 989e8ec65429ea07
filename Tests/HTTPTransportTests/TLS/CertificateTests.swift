import COpenSSL
import Glibc
import Testing

@testable import HTTPTransport

@Suite struct `Certificates` {
    private let authority = TestAuthority()
    private let now = Int64(time(nil))

    private func load(_ pair: TLSConfiguration.CertificateFiles, allowsExpired: Bool = false)
        throws(TLSConfigurationError) -> Certificate
    {
        try Certificate(pair, at: now, allowsExpired: allowsExpired)
    }

    @Test func `a valid pair has its names, its end and its chain without the root (H166, H171)`()
        throws
    {
        let pair = authority.pair { options in
            options.names = ["DNS:Chat.Example.com", "DNS:*.example.org", "IP:127.0.0.1", "IP:::1"]
        }
        let certificate = try load(pair)
        #expect(
            certificate.subjects == ["Chat.Example.com", "*.example.org", "127.0.0.1", "::1"])
        #expect(certificate.names.covers("chat.example.com"))
        #expect(abs(certificate.expiry - now - 86_400) <= 2)
        #expect(certificate.chain.count == 1)
        #expect(certificate.warnings == [])
    }

    @Test func `a key of another certificate is refused (H165)`() throws {
        let (one, other) = (authority.pair(), authority.pair())
        let mixed = TLSConfiguration.CertificateFiles(chain: one.chain, key: other.key)
        #expect(
            throws: TLSConfigurationError(
                "the key \(other.key) does not belong to the certificate \(one.chain)")
        ) { try load(mixed) }
    }

    @Test func `an expired certificate is refused, unless forced (H166)`() throws {
        let pair = authority.pair { options in options.validity = -7200 ... -3600 }
        #expect(throws: TLSConfigurationError("the certificate \(pair.chain) has expired")) {
            try load(pair)
        }
        let forced = try load(pair, allowsExpired: true)
        #expect(
            forced.warnings == [
                "the certificate \(pair.chain) has expired and is served all the same"
            ])
    }

    @Test func `a certificate that is not valid yet is refused (H165)`() {
        let pair = authority.pair { options in options.validity = 3600...7200 }
        #expect(throws: TLSConfigurationError("the certificate \(pair.chain) is not valid yet")) {
            try load(pair)
        }
    }

    @Test func `missing files and files with other content are refused by name (H165)`() {
        let good = authority.pair()
        let text = authority.write("text") { bio in BIO_puts(bio, "no PEM\n") }
        let missing = authority.folder + "/missing"
        for (pair, fault) in [
            (
                TLSConfiguration.CertificateFiles(chain: missing, key: good.key),
                "\(missing) cannot be read: No such file or directory"
            ),
            (
                .init(chain: good.chain, key: missing),
                "\(missing) cannot be read: No such file or directory"
            ),
            (.init(chain: text, key: good.key), "\(text) contains no certificate in PEM form"),
            (.init(chain: good.chain, key: text), "\(text) contains no private key in PEM form"),
        ] {
            #expect(throws: TLSConfigurationError(fault)) { try load(pair) }
        }
    }

    @Test func `a key with a passphrase is refused without a prompt (H165)`() throws {
        let pair = authority.pair()
        let key = try PEMFile(pair.key).privateKey()
        let path = authority.write("locked.key") { bio in
            PEM_write_bio_PrivateKey(bio, key.pointer, EVP_aes_256_cbc(), "secret", 6, nil, nil)
        }
        #expect(
            throws: TLSConfigurationError(
                "\(path) is protected by a passphrase, which a server cannot enter")
        ) { try load(.init(chain: pair.chain, key: path)) }
    }

    @Test func `a key that all users may read causes a warning (H165)`() throws {
        let pair = authority.pair()
        chmod(pair.key, 0o644)
        #expect(
            try load(pair).warnings == [
                "every user of this machine may read the key \(pair.key)"
            ])
    }

    @Test(arguments: [TestAuthority.KeyKind.rsa(2048), .ed25519, .p256])
    func `strong keys are accepted (H160)`(kind: TestAuthority.KeyKind) throws {
        _ = try load(authority.pair { options in options.key = kind })
    }

    @Test func `weak keys, unsupported curves and old signatures are refused (H160)`() {
        let weak = authority.pair { options in options.key = .rsa(1024) }
        let otherCurve = authority.pair { options in options.key = .p521 }
        let old = authority.pair { options in options.signsWithSHA1 = true }
        for (pair, fault) in [
            (weak, "has an RSA key of 1024 bits; at least 2048 are required"),
            (otherCurve, "has a key on a curve other than P-256 and P-384"),
            (old, "is signed with a digest older than SHA-256"),
        ] {
            #expect(throws: TLSConfigurationError("the certificate \(pair.chain) \(fault)")) {
                try load(pair)
            }
        }
    }

    @Test func `a chain out of order is refused (H171)`() throws {
        let pair = authority.pair()
        let (chain, other) = (
            try PEMFile(pair.chain).certificates(),
            try PEMFile(authority.pair().chain).certificates()
        )
        let mixed = authority.write("mixed.pem") { bio in
            PEM_write_bio_X509(bio, chain[0].pointer)
            PEM_write_bio_X509(bio, other[0].pointer)
        }
        #expect(
            throws: TLSConfigurationError(
                "the certificates in \(mixed) are not in order: each must be issued by the next one"
            )
        ) { try load(.init(chain: mixed, key: pair.key)) }
    }

    @Test func `a development pair is usable at once and never overwrites another`() throws {
        let pair = try DevelopmentCertificate.write(
            to: authority.folder, hosts: ["chat.test", "localhost", "192.0.2.1"])
        let certificate = try load(pair)
        #expect(
            certificate.subjects == ["localhost", "127.0.0.1", "::1", "chat.test", "192.0.2.1"])
        #expect(certificate.warnings == [])
        #expect(throws: TLSConfigurationError("\(pair.key) cannot be written: File exists")) {
            try DevelopmentCertificate.write(to: authority.folder, hosts: [])
        }
        #expect(throws: TLSConfigurationError("a,IP:1.2.3.4 is neither a host name nor an address"))
        {
            try DevelopmentCertificate.write(to: authority.folder, hosts: ["a,IP:1.2.3.4"])
        }
    }
}

@Suite struct `Names of certificates` {
    @Test(arguments: [
        ("example.com", true), ("chat.example.org", true), ("example.org", false),
        ("a.chat.example.org", false), (".example.org", false), ("example.co", false),
        ("xexample.com", false), ("", false), ("www.example.net", false), ("192.0.2.1", true),
    ])
    func `exact names and one label below a wildcard are covered (H163)`(
        host: String, isCovered: Bool
    ) {
        let names = CertificateNames([
            "EXAMPLE.com", "*.Example.ORG", "w*.example.net", "*", "*.*.example.net", "192.0.2.1",
        ])
        #expect(names.covers(host) == isCovered)
    }

    @Test(
        arguments: [
            ([0, 8, 0, 0, 5] + Array("A-b.c".utf8), "a-b.c"),
            ([0, 8, 1, 0, 5] + Array("A-b.c".utf8), nil),
            ([0, 9, 0, 0, 5] + Array("A-b.c".utf8), nil),
            ([0, 8, 0, 0, 6] + Array("A-b.c".utf8), nil),
            ([0, 8, 0, 0, 5] + Array("A-b\0c".utf8), nil),
            ([0, 3, 0, 0, 0], nil),
            ([0, 8, 0, 0], nil),
            ([], nil),
        ] as [([UInt8], String?)])
    func `a server name is read only where it is well-formed (H163)`(
        bytes: [UInt8], name: String?
    ) {
        #expect(bytes.withUnsafeBufferPointer { bytes in ServerName.read(bytes) } == name)
    }
}
