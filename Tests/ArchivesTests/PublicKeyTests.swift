import TestSupport
import Testing

@testable import Archives

@Suite struct `A public key` {
    @Test func `seals what its private half opens`() throws {
        let pair = try TestKey()
        let key = try #require(PublicKey(pem: pair.pem))
        let secret = (0..<32).map { UInt8($0) }
        let sealed = try #require(key.seal(secret))
        #expect(sealed.count == 256)
        #expect(pair.open(sealed) == secret)
        #expect(PublicKey(der: key.der)?.seal(secret)?.count == 256)
    }

    @Test func `has 2048 bits at least`() throws {
        #expect(PublicKey(pem: try TestKey(bits: 2040).pem) == nil)
    }

    @Test(arguments: [
        "", "x", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
        String(repeating: "-", count: 100_000),
        // An elliptic curve.
        """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEy0d2FZheUBXDjALFhcxfHO746Jf8
        vPezU5+o5p2Ft6j7qBxp0b67LPcbbH0vXJwaNPBNwVOFiVE7nK8NLXxzeg==
        -----END PUBLIC KEY-----
        """,
    ]) func `is nothing else`(text: String) {
        #expect(PublicKey(pem: text) == nil)
    }

    // From a terminal this would wait for somebody who types.
    @Test func `is not under a passphrase, and nobody is asked for one`() throws {
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
}
