import Bytes
import TestSupport
import Testing

@Suite struct `A public key` {
    @Test func `encrypts what its private key decrypts`() throws {
        let pair = try TestKey()
        let key = try #require(PublicKey(pem: pair.pem))
        let secret = (0..<32).map { UInt8($0) }
        let encrypted = try #require(key.encrypt(secret))
        #expect(encrypted.count == 256)
        #expect(pair.open(encrypted) == secret)
        #expect(PublicKey(der: key.der)?.encrypt(secret)?.count == 256)
        #expect(key.canEncrypt)
    }

    @Test func `has at least 2048 bits if it is an RSA key`() throws {
        #expect(PublicKey(pem: try TestKey(bits: 2040).pem) == nil)
    }

    @Test func `encrypts only if it is an RSA key`() throws {
        let curve = try #require(
            PublicKey(
                pem: """
                    -----BEGIN PUBLIC KEY-----
                    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEy0d2FZheUBXDjALFhcxfHO746Jf8
                    vPezU5+o5p2Ft6j7qBxp0b67LPcbbH0vXJwaNPBNwVOFiVE7nK8NLXxzeg==
                    -----END PUBLIC KEY-----
                    """))
        #expect(curve.kind == .p256)
        #expect(!curve.canEncrypt)
    }

    @Test(arguments: [
        "", "x", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
        String(repeating: "-", count: 100_000),
    ]) func `rejects any other text`(text: String) {
        #expect(PublicKey(pem: text) == nil)
    }

    // At a terminal OpenSSL would wait for input.
    @Test func `has no passphrase, and OpenSSL asks for none`() throws {
        let locked = try TestKey().pem.replacing(
            "-----BEGIN PUBLIC KEY-----\n",
            with: """
                -----BEGIN PUBLIC KEY-----
                Proc-Type: 4,ENCRYPTED
                DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF


                """)
        #expect(locked.contains("ENCRYPTED"))
        #expect(PublicKey(pem: locked) == nil)
    }

    @Test func `is read alike while other tasks allocate memory`() async {
        let text = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEAb8xNFm6DOdfDOyHnYCEc4wKK3kHVKmNeiqJoQaTqD+E=
            -----END PUBLIC KEY-----

            """
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<500).count { _ in PublicKey(pem: text)?.kind != .ed25519 }
                }
            }
            for await failures in group { #expect(failures == 0) }
        }
    }
}
