import Testing

@testable import Bytes

@Suite struct `A running digest` {
    private static let bytes = (0..<1000).map {
        UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &* 17)
    }

    // Computed with Python's hashlib and zlib.
    @Test(
        arguments: [
            (SHA1.self, "0071d5592ceb00c5373a170ea2e285c2f95610d4"),
            (SHA256.self, "6bf31c37287dc108df35199344bbc91f90d5aba9369f0d1265f3de26f5f911cb"),
            (
                SHA512.self,
                "4a10d4614b914d455f03461d9ab5d65959364f8cb3fea6da197c120beb5761c4"
                    + "68edf4c24c148b0a7ed2dda81c93f991302a5519d4c1ce9168d6f9622a71aa13"
            ),
            (MD5.self, "e2e6b3917abb0e5e23842ca048228bc3"),
            (CRC32.self, "e913f1c0"),
            (CRC32C.self, "2b5d33a3"),
        ] as [(any RunningDigest.Type, String)])
    func `is the same however the bytes are split`(kind: any RunningDigest.Type, expected: String) {
        let bytes = Self.bytes
        for split in stride(from: 0, through: 1000, by: 125) {
            let (head, tail) = (Array(bytes[..<split]), Array(bytes[split...]))
            var digest = kind.init()
            digest.update(head.span)
            _ = digest.digest
            digest.update(tail.span)
            #expect(String(hexadecimal: digest.digest) == expected)
        }
        #expect(String(hexadecimal: kind.digest(of: bytes)) == expected)
        #expect(kind.size * 2 == expected.utf8.count)
    }

    @Test func `resumes from a stored state`() throws {
        let (head, tail) = (Array(Self.bytes[..<333]), Array(Self.bytes[333...]))
        var sha = SHA256()
        sha.update(head.span)
        var md5 = MD5()
        md5.update(head.span)
        var (later, slower) = (
            try #require(SHA256(state: sha.state)), try #require(MD5(state: md5.state))
        )
        later.update(tail.span)
        slower.update(tail.span)
        #expect(later.digest == SHA256.digest(of: Self.bytes))
        #expect(slower.digest == MD5.digest(of: Self.bytes))
    }

    @Test func `rejects a state of another size`() {
        #expect(SHA256(state: Array(SHA256().state.dropLast())) == nil)
        #expect(MD5(state: MD5().state + [0]) == nil)
    }
}

@Suite struct `A signature` {
    // RFC 4231 §4.2, §4.3, §4.7, and the empty input, computed with Python's hmac.
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
    func `is HMAC-SHA1 where a protocol requires it (webhooks 3_2)`(
        key: [UInt8], text: String, expected: String
    ) {
        let code = Signature.of(Array(text.utf8), key: key, by: .sha1)
        #expect(String(hexadecimal: code) == expected)
    }

    @Test func `matches only itself`() {
        let code = Signature.of("a", key: [1])
        #expect(Signature.matches(code, Signature.of("a", key: [1])))
        #expect(!Signature.matches(code, Signature.of("b", key: [1])))
        #expect(!Signature.matches(code, Array(code.dropLast())))
    }
}
