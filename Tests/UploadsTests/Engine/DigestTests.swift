import Blobs
import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `Digests stated by a client` {
    private let fixture = UploadFixture()

    private func md5(_ bytes: [UInt8]) -> String { Base64.encode(MD5.digest(of: bytes)) }

    @Test func `a wrong Content-MD5 rolls back the whole request (4.4, 5.9)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        _ = await uploads.put(url, "bytes 0-1/6", [0, 1])
        let wrong = await uploads.send(
            .put, url, [("Content-Range", "bytes 2-3/6"), ("Content-MD5", md5([7]))],
            ScriptedBody([8, 8]))
        #expect(wrong.status == .badRequest)
        #expect(wrong.text.contains("checksumMismatch"))
        #expect(await uploads.offset(url) == "2")
        let right = await uploads.send(
            .put, url, [("Content-Range", "bytes 2-5/6"), ("Content-MD5", md5([2, 3, 4, 5]))],
            ScriptedBody([2, 3, 4, 5]))
        #expect(right.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: Array(0...5)))
    }

    @Test func `a truncated request with Content-MD5 is rolled back (3.5, 4.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        let body = ScriptedBody([.bytes([0, 1]), .fails(.interrupted)], length: 6)
        _ = await uploads.send(.put, url, [("Content-MD5", md5([7]))], body)
        #expect(await uploads.offset(url) == "0")
    }

    @Test func `Content-MD5 covers overlapping bytes too (4.1)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        _ = await uploads.put(url, "bytes 0-1/4", [0, 1])
        let answer = await uploads.send(
            .put, url, [("Content-MD5", md5([0, 1, 2, 3]))], ScriptedBody([0, 1, 2, 3]))
        #expect(answer.status == .ok)
    }

    @Test(arguments: ["crc32c=AAAAAA==", "md5=AAAAAAAAAAAAAAAAAAAAAA=="])
    func `a wrong digest of the content fails the upload permanently (5.9)`(hash: String)
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let answer = await uploads.send(
            .put, url, [("X-Goog-Hash", hash)], ScriptedBody([1, 2, 3]))
        #expect(answer.status == .badRequest)
        #expect(answer.text.contains("checksumMismatch"))
        #expect(await uploads.put(url, "bytes */*").status == .gone)
        #expect(await uploads.send(.head, url).status == .notFound)
        #expect(try uploads.blobs.stagedEntries().isEmpty)
    }

    @Test(arguments: ["crc32c=AAA=", "md5=AAAAAA==", "md5=!", "crc32c=AAAAAA==,crc32c=AAAAAQ=="])
    func `malformed digests are refused before the body is read (5.9)`(hash: String) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let body = ScriptedBody([1, 2, 3])
        #expect(await uploads.send(.put, url, [("X-Goog-Hash", hash)], body).status == .badRequest)
        #expect(body.reads == 0)
    }

    @Test func `a digest requested late is computed from the stored bytes (4.5)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 300_000))
        let bytes = patternBytes(300_000)
        let cut = ScriptedBody(
            [.bytes(Array(bytes[..<280_000])), .fails(.interrupted)], length: 300_000)
        _ = await uploads.send(.put, url, [], cut)
        let answer = await uploads.put(url, "bytes 280000-299999/300000", Array(bytes[280_000...]))
        #expect(answer.text.contains("\"md5Hash\":\"\(md5(bytes))\""))
    }

    @Test func `a plain PUT computes no MD5 (4.5)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let answer = await uploads.send(.put, url, [], ScriptedBody([1, 2, 3]))
        #expect(!answer.text.contains("md5Hash"))
        #expect(answer.fields["X-Goog-Hash"]?.contains("md5") == false)
    }
}
