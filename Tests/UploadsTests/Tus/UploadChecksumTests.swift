import Base64
import Digests
import Testing

@testable import Uploads

@Suite struct `The Upload-Checksum of a request` {
    @Test(arguments: DigestAlgorithm.tus.map(\.name))
    func `takes the algorithms that are offered (6.2, 6.8)`(name: String) throws {
        let algorithm = try #require(DigestAlgorithm.tus.first { $0.name == name }?.algorithm)
        let bytes = [UInt8](repeating: 7, count: algorithm.kind.size)
        let digest = try BodyDigest(tus: "\(name) \(Base64.encode(bytes))")
        #expect(digest == BodyDigest(algorithm: algorithm, value: bytes))
    }

    @Test(arguments: [
        "", "sha1", "sha1 ", " sha1 AAAA", "sha1  AAAA", "sha1 AAAA", "sha1 AAAA AAAA",
        "md5 AAAAAAAAAAAAAAAAAAAAAA", "md5 AAAAAAAAAAAAAAAAAAAAAB==", "crc32 AAAAAA",
        "crc32 AAAA_A==", "crc32\tAAAAAA==", "crc32c 00000000", "sha256 AAAAAA==",
    ])
    func `refuses what is no digest (6.8)`(text: String) {
        let error = #expect(throws: UploadError.self) { try BodyDigest(tus: text) }
        #expect(error != .unsupportedChecksum)
    }

    @Test(arguments: ["sha512 AAAA", "SHA1 AAAA", "Md5 AAAA", " AAAA", "adler32 AAAAAA=="])
    func `names an algorithm it does not know (6.8)`(text: String) {
        #expect(throws: UploadError.unsupportedChecksum) { try BodyDigest(tus: text) }
    }
}
