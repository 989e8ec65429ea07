import Bytes
import Testing

@Suite struct `Verification keys` {
    @Test func `are read alike while other tasks allocate memory`() async {
        let text = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEAb8xNFm6DOdfDOyHnYCEc4wKK3kHVKmNeiqJoQaTqD+E=
            -----END PUBLIC KEY-----

            """
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<500).count { _ in VerificationKey(pem: text)?.kind != .ed25519 }
                }
            }
            for await failures in group { #expect(failures == 0) }
        }
    }
}
