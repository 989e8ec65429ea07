import Testing

@testable import Uploads

@Suite struct `A digest of a body` {
    // Of `pattern(1000)`, by Python's hashlib and zlib.
    @Test(
        arguments: [
            (.sha1, "0071d5592ceb00c5373a170ea2e285c2f95610d4"),
            (.sha256, "6bf31c37287dc108df35199344bbc91f90d5aba9369f0d1265f3de26f5f911cb"),
            (.md5, "e2e6b3917abb0e5e23842ca048228bc3"),
            (.crc32, "e913f1c0"),
            (.crc32c, "2b5d33a3"),
        ] as [(DigestAlgorithm, String)])
    func `is the same however the body is cut (6.8)`(
        algorithm: DigestAlgorithm, expected: String
    ) {
        let bytes = pattern(1000)
        for place in stride(from: 0, through: 1000, by: 125) {
            let (head, tail) = (Array(bytes[..<place]), Array(bytes[place...]))
            var digest = RunningDigest(algorithm)
            digest.update(head.span)
            digest.update(tail.span)
            #expect(hexadecimal(digest.digest) == expected)
            #expect(digest.digest.count == algorithm.size)
        }
    }
}
