import Bytes
import HTTP
import SystemSupport
import Testing

@testable import Uploads

/// Column C of the status matrix (§12): the rows that are the same in all versions.
@Suite struct `The IETF protocol answers` {
    private let fixture = UploadFixture()

    private func client(_ version: Int?) async throws -> InteropClient {
        InteropClient(uploads: try await fixture.open(), version: version)
    }

    @Test(arguments: InteropClient.versions, [0, 5])
    func `409 to an append at another offset (7.8)`(
        version: Int, offset: Int
    ) async throws {
        let client = try await client(version)
        let url = try await client.started([1, 2])
        let body = ScriptedBody([9])
        let answer = await client.append(body, at: offset, of: url, isComplete: true)
        #expect(answer.status == .conflict)
        #expect(answer.fields["Upload-Offset"] == "2")
        #expect(client.isComplete(answer) == false)
        #expect(answer.fields["Content-Type"] == "application/problem+json")
        #expect(
            answer.text
                == #"{"type":"https://iana.org/assignments/http-problem-types#mismatching-upload-offset","title":"Upload-Offset is not the offset of the upload; continue at expected-offset.","status":409,"id":"invalid_operation","code":9,"url":"https://chat.example/docs/errors#invalid_operation","expected-offset":2,"provided-offset":\#(offset)}"#
        )
        #expect(body.reads == 0)
    }

    @Test(
        arguments: InteropClient.versions,
        [
            (name: "Upload-Offset", value: "x"), (name: "Upload-Offset", value: "-1"),
            (name: "Upload-Offset", value: "1, 1"), (name: "Upload-Offset", value: ""),
        ])
    func `400 to malformed headers (7.2, 7.8)`(
        version: Int, field: (name: String, value: String)
    ) async throws {
        let client = try await client(version)
        let url = try await client.started([1])
        let answer = await client.send(
            .patch, url,
            [client.complete(true), ("Content-Type", "application/partial-upload"), field],
            ScriptedBody([2]))
        #expect(answer.status == .badRequest)
        #expect(answer.fields["Content-Type"] == "application/problem+json")
        #expect(await client.uploads.offset(url) == "1")
    }

    @Test(
        arguments: [
            ([("Upload-Offset", "1")], 400), ([("Upload-Offset", "0")], 200),
            ([("Upload-Length", "2")], 400), ([("Upload-Length", "1")], 200),
            ([("Upload-Length", "-1")], 200), ([("Content-Encoding", "gzip")], 415),
            ([("Content-Digest", "sha-256=:AAAA:")], 400),
            ([("Content-Digest", "md5=:AAAA:")], 200),
            ([("Repr-Digest", "sha-512=x")], 400),
        ] as [([(String, String)], Int)])
    func `an invalid creation, without creating an upload (7.6)`(
        fields: [(String, String)], status: Int
    ) async throws {
        let client = try await client(8)
        let answer = await client.create(
            [1], isComplete: true, fields.map { (name: $0.0, value: $0.1) })
        #expect(answer.status.code == status)
        #expect(client.uploads.statistics.open == [:])
    }

    @Test(arguments: InteropClient.versions)
    func `400 to a length that contradicts the known one (7.8)`(version: Int) async throws {
        let client = try await client(version)
        let url = try await client.uploads.create(UploadFixture.draft(length: 3))
        for bytes in [[1], [1, 2, 3, 4]] as [[UInt8]] {
            let answer = await client.append(bytes, at: 0, of: url, isComplete: true)
            #expect(answer.status == .badRequest)
            #expect(client.isComplete(answer) == false)
            #expect(answer.text.contains("#inconsistent-upload-length"))
        }
        #expect(await client.uploads.offset(url) == "0")
        // Its length is not known before its end, so its bytes are stored.
        let body = ScriptedBody([.bytes([1])], length: nil)
        let early = await client.append(body, at: 0, of: url, isComplete: true)
        #expect(early.status == .badRequest)
        #expect(client.isComplete(early) == false)
        #expect(await client.uploads.offset(url) == "1")
    }

    @Test func `413 with the limit above the largest size (7.6)`() async throws {
        let small = UploadFixture { $0.maxUploadSize = 2 }
        let client = InteropClient(uploads: try await small.open(), version: 8)
        let answer = await client.create([1, 2, 3], isComplete: true)
        #expect(answer.status == .contentTooLarge)
        #expect(answer.fields["Upload-Limit"] == "max-size=2")
        let url = try await client.started([1])
        let late = await client.append([2, 3], at: 1, of: url, isComplete: false)
        #expect(late.status == .contentTooLarge)
    }

    @Test(arguments: InteropClient.versions)
    func `400 when the body has another digest, and rolls it back (7.12)`(version: Int) async throws
    {
        let client = try await client(version)
        let url = try await client.started([1])
        let digest = (
            name: "Content-Digest",
            value: "unknown=:AA==:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
        )
        let wrong = await client.append([2], at: 1, of: url, isComplete: true, [digest])
        #expect(wrong.status == .badRequest)
        #expect(client.isComplete(wrong) == false)
        #expect(await client.uploads.offset(url) == "1")
        let right = await client.append([], at: 1, of: url, isComplete: true, [digest])
        #expect(client.isComplete(right) == true)
    }

    @Test(arguments: ["sha-256", "sha-512"])
    func `422 when the content has another digest, and the upload fails (7.12, 7.10)`(
        algorithm: String
    ) async throws {
        let client = try await client(8)
        let size = algorithm == "sha-256" ? 43 : 86
        let zeros = String(repeating: "A", count: size) + (size == 43 ? "=" : "==")
        let created = await client.create(
            [1], isComplete: false, [("Repr-Digest", "\(algorithm)=:\(zeros):")])
        let url = try #require(created.fields["Location"])
        let last = await client.append([2], at: 1, of: url, isComplete: true)
        #expect(last.status == .unprocessable)
        #expect(client.isComplete(last) == true)
        #expect(await client.append([], at: 2, of: url, isComplete: true).status == .unprocessable)
        #expect(await client.append([3], at: 2, of: url, isComplete: true).status == .notFound)
        #expect(await client.send(.head, url).status == .notFound)
    }

    @Test func `200 to a content whose digests match (7.12)`() async throws {
        let client = try await client(8)
        let bytes: [UInt8] = [1, 2]
        let (long, short) = (SHA512.digest(of: bytes), SHA256.digest(of: bytes))
        let value = "sha-512=:\(Base64.encode(long)):, sha-256=:\(Base64.encode(short)):"
        let answer = await client.create(bytes, isComplete: true, [("Repr-Digest", value)])
        #expect(answer.status == .ok)
        #expect(fixture.finisher.finished.withLock { $0.last?.content.sha512 } == long)
    }

    @Test func `507 when the disk is full (11.7)`() async throws {
        let full = UploadFixture { $0.diskHeadroom = .max / 2 }
        let client = InteropClient(uploads: try await full.open(), version: 8)
        #expect(await client.create([1], isComplete: true).status == .insufficientStorage)
    }

    @Test(arguments: InteropClient.versions)
    func `204 to a cancellation, and 404 to later requests (7.9)`(version: Int) async throws {
        let client = try await client(version)
        let url = try await client.started([1])
        #expect(await client.send(.delete, url).status == .noContent)
        #expect(await client.send(.delete, url).status == .notFound)
        #expect(await client.send(.head, url).status == .notFound)
        #expect(await client.append([2], at: 1, of: url, isComplete: true).status == .notFound)
        #expect(await client.append([2], at: 9, of: url, isComplete: true).status == .notFound)
    }

    @Test func `403 to the cancellation of content that a message uses (7.9)`() async throws {
        let client = try await client(6)
        let url = try #require(await client.create([1], isComplete: true).fields["Location"])
        fixture.finisher.isUsed.withLock { $0 = true }
        #expect(await client.send(.delete, url).status == .forbidden)
    }

    @Test func `404 to an unknown or expired upload (7.7)`() async throws {
        let client = try await client(6)
        let unknown = await client.send(.head, "/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
        #expect(unknown.status == .notFound)
        #expect(unknown.fields["Upload-Draft-Interop-Version"] == "6")
        let url = try await client.started([1])
        fixture.pass(8 * 24 * 3_600_000)
        #expect(await client.send(.head, url).status == .notFound)
    }

    @Test func `429 to too many open uploads (12)`() async throws {
        let small = UploadFixture { $0.maxOpenUploadsPerOwner = 1 }
        let client = InteropClient(uploads: try await small.open(), version: 8)
        _ = try await client.started()
        #expect(await client.create([], isComplete: false).status == .tooManyRequests)
    }

    @Test(arguments: [HTTP.Method.patch, .head, .get, .delete])
    func `405 to other methods at the creation endpoint`(method: HTTP.Method) async throws {
        let client = try await client(6)
        let answer = await client.send(method, "/uploads", [("Upload-Offset", "0")])
        #expect(answer.status == .methodNotAllowed)
    }

    @Test func `401 without a credential (1.1)`() async throws {
        let uploads = try await fixture.open()
        let answer = await uploads.send(
            .post, "/uploads", [("Upload-Complete", "?1")], ScriptedBody([1]))
        #expect(answer.status == .unauthorized)
        #expect(answer.fields["Content-Type"] == "application/problem+json")
    }

}
