import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `Checksums of a body in tus` {
    private let fixture = UploadFixture()

    private func checksum(_ name: String, _ bytes: [UInt8]) throws -> String {
        let algorithm = try #require(DigestAlgorithm.tus.first { $0.name == name }?.algorithm)
        return "\(name) \(Base64.encode(algorithm.kind.digest(of: bytes)))"
    }

    @Test(arguments: DigestAlgorithm.tus.map(\.name))
    func `a matching one is accepted, another rolls back its request (4.4, 6.8)`(
        name: String
    ) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let wrong = await uploads.patch(
            url, at: 2, [9, 9], [("Upload-Checksum", try checksum(name, [2, 3]))])
        #expect(wrong.status.code == 460)
        #expect(wrong.status.reason == "Checksum Mismatch")
        #expect(wrong.text.hasPrefix("checksumMismatch: "))
        #expect(await uploads.tusOffset(url) == "2")
        let right = await uploads.patch(
            url, at: 2, [2, 3, 4, 5], [("Upload-Checksum", try checksum(name, [2, 3, 4, 5]))])
        #expect(right.status == .noContent)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: Array(0...5)))
    }

    @Test func `a truncated body rolls back the whole request (6.8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        let cut = ScriptedBody([.bytes([0, 1]), .fails(.interrupted)], length: 6)
        let answer = await uploads.patch(
            url, at: 0, cut, [("Upload-Checksum", try checksum("sha1", [0, 1]))])
        #expect(answer.ending == .drop)
        #expect(await uploads.tusOffset(url) == "0")
    }

    @Test func `a body that is too long rolls back the whole request (4.2, 4.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 2))
        let long = ScriptedBody([.bytes([0, 1, 2])], length: nil)
        let answer = await uploads.patch(
            url, at: 0, long, [("Upload-Checksum", try checksum("md5", [0, 1, 2]))])
        #expect(answer.status == .contentTooLarge)
        #expect(await uploads.tusOffset(url) == "0")
    }

    @Test(arguments: DigestAlgorithm.tus.map(\.name))
    func `one in a trailer counts like one in the head (6.8)`(name: String) async throws {
        let uploads = try await fixture.open()
        let bytes = patternBytes(600_000)
        let url = try await uploads.create(UploadFixture.draft(length: 600_000))
        let announced = [(name: "Trailer", value: "Expires, upload-checksum")]
        let wrong = ScriptedBody(
            [.bytes(bytes)], length: nil, trailer: [try checksum(name, [1])])
        #expect(await uploads.patch(url, at: 0, wrong, announced).status.code == 460)
        #expect(await uploads.tusOffset(url) == "0")
        let right = ScriptedBody(
            [.bytes(bytes)], length: nil, trailer: [try checksum(name, bytes)])
        #expect(await uploads.patch(url, at: 0, right, announced).status == .noContent)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: bytes))
    }

    @Test(
        arguments: [
            [], ["crc32 AAAAAA==", "crc32 AAAAAA=="], ["crc32 AAAA"], ["sha3 AAAAAA=="],
        ])
    func `one announced but missing or malformed rolls back the request (6.8)`(
        trailer: [String]
    ) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        let body = ScriptedBody([.bytes([0, 1])], length: nil, trailer: trailer)
        let answer = await uploads.patch(url, at: 0, body, [("Trailer", "Upload-Checksum")])
        #expect(answer.status == .badRequest)
        #expect(await uploads.tusOffset(url) == "0")
    }

    @Test func `one in both head and trailer is refused, announced or not (6.8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        let right = try checksum("crc32", [0, 1])
        let fields = [(name: "Upload-Checksum", value: right)]
        let body = ScriptedBody([.bytes([0, 1])], length: nil, trailer: [right])
        let announced = await uploads.patch(
            url, at: 0, body, fields + [("Trailer", "Upload-Checksum")])
        #expect(announced.status == .badRequest)
        #expect(body.reads == 0)
        let silent = await uploads.patch(url, at: 0, body, fields)
        #expect(silent.status == .badRequest)
        #expect(await uploads.tusOffset(url) == "0")
    }

    @Test func `one announced as a trailer of a body of known length is refused (6.8)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        let body = ScriptedBody([0, 1])
        let answer = await uploads.patch(url, at: 0, body, [("Trailer", "Upload-Checksum")])
        #expect(answer.status == .badRequest)
        #expect(body.reads == 0)
    }

    @Test func `one that was not announced is ignored (3.1)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        let body = ScriptedBody([.bytes([0, 1])], length: nil, trailer: ["crc32 AAAAAA=="])
        #expect(await uploads.patch(url, at: 0, body).status == .noContent)
        #expect(await uploads.tusOffset(url) == "2")
    }

    @Test func `a restart finds no bytes of a request that was rolled back (4.4, 11.3)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        _ = await uploads.patch(url, at: 0, [0, 1])
        _ = await uploads.patch(url, at: 2, [9, 9], [("Upload-Checksum", "crc32 AAAAAA==")])
        let reopened = try await fixture.open()
        #expect(await reopened.tusOffset(url) == "2")
        #expect(await reopened.patch(url, at: 2, [2, 3, 4, 5]).status == .noContent)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: Array(0...5)))
    }
}

@Suite struct `The Upload-Checksum of a request` {
    @Test(arguments: DigestAlgorithm.tus.map(\.name))
    func `is accepted for each supported algorithm (6.2, 6.8)`(name: String) throws {
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
    func `is refused when it is malformed (6.8)`(text: String) {
        let error = #expect(throws: UploadError.self) { try BodyDigest(tus: text) }
        #expect(error != .unsupportedChecksum)
    }

    @Test(arguments: ["sha512 AAAA", "SHA1 AAAA", "Md5 AAAA", " AAAA", "adler32 AAAAAA=="])
    func `with an unknown algorithm names that algorithm (6.8)`(text: String) {
        #expect(throws: UploadError.unsupportedChecksum) { try BodyDigest(tus: text) }
    }
}
