import Checksums
import Testing

@testable import Digests

@Suite struct `A running digest` {
    private static let bytes = (0..<1000).map {
        UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &* 17)
    }

    // By Python's hashlib and zlib.
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
    func `is the same however the bytes are cut`(kind: any RunningDigest.Type, expected: String) {
        let bytes = Self.bytes
        for place in stride(from: 0, through: 1000, by: 125) {
            let (head, tail) = (Array(bytes[..<place]), Array(bytes[place...]))
            var digest = kind.init()
            digest.update(head.span)
            _ = digest.digest
            digest.update(tail.span)
            #expect(String(hexadecimal: digest.digest) == expected)
        }
        #expect(String(hexadecimal: kind.digest(of: bytes)) == expected)
        #expect(kind.size * 2 == expected.utf8.count)
    }

    @Test func `goes on from a stored state`() throws {
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

    @Test func `takes up no state of another size`() {
        #expect(SHA256(state: Array(SHA256().state.dropLast())) == nil)
        #expect(MD5(state: MD5().state + [0]) == nil)
    }
}
