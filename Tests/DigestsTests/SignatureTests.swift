import Digests
import Testing

@Suite struct `A signature` {
    // RFC 4231 §4.2, §4.3, §4.7, and nothing at all by Python's hmac.
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ] as [([UInt8], String, String)])
    func `is HMAC-SHA256`(key: [UInt8], text: String, expected: String) {
        #expect(String(hexadecimal: Signature.of(text, key: key)) == expected)
    }

    // RFC 2202 §3, and the vector of webhooks 3.2.
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b617318655057264e28bc0b6fb378c8ef146be00"
            ),
            (
                [UInt8](repeating: 0xAA, count: 80),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
            (
                Array("s3cret".utf8),
                #"{"event":{"id":"e1","type":"Message.created"},"note":"naïve/ok"}"#,
                "c785764a265d96784be540f0447e2c9bcd9f6009"
            ),
        ] as [([UInt8], String, String)])
    func `is HMAC-SHA1 where a protocol names it (webhooks 3_2)`(
        key: [UInt8], text: String, expected: String
    ) {
        let code = Signature.of(Array(text.utf8), key: key, by: .sha1)
        #expect(String(hexadecimal: code) == expected)
    }

    @Test func `matches itself alone`() {
        let code = Signature.of("a", key: [1])
        #expect(Signature.matches(code, Signature.of("a", key: [1])))
        #expect(!Signature.matches(code, Signature.of("b", key: [1])))
        #expect(!Signature.matches(code, Array(code.dropLast())))
    }
}
