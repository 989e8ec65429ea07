import Blobs
import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `Concatenating uploads` {
    private let fixture = UploadFixture { $0.maxUploadSize = 1_000_000 }
    private let bytes = patternBytes(300_000)

    /// Creates a part with these bytes, and returns its URL.
    private func part(
        _ uploads: Uploads, _ bytes: [UInt8], number: Int, length: Int? = nil
    ) async throws -> String {
        let answer = await uploads.create(
            [("Upload-Concat", "partial"), ("Upload-Length", "\(length ?? bytes.count)")],
            content: number)
        let url = try #require(answer.fields["Location"])
        #expect(await uploads.patch(url, at: 0, bytes).status == .noContent)
        return url
    }

    private func join(
        _ uploads: Uploads, _ urls: [String], _ fields: [(name: String, value: String)] = [],
        _ body: ScriptedBody = ScriptedBody([])
    ) async -> Response {
        let list = (name: "Upload-Concat", value: "final;" + urls.joined(separator: " "))
        return await uploads.create([list] + fields, body)
    }

    private func content(_ uploads: Uploads) async -> [UInt8]? {
        await uploads.bytes(of: UploadFixture.content)
    }

    @Test func `makes one content of its parts (6.10)`() async throws {
        let uploads = try await fixture.open()
        let one = try await part(uploads, Array(bytes[..<200_000]), number: 1)
        let two = try await part(uploads, Array(bytes[200_000...]), number: 2)
        // Absolute and relative references, as clients send them.
        let answer = await join(uploads, [one, String(two.dropFirst(20))])
        #expect(answer.status == .created)
        #expect(answer.fields["Upload-Offset"] == "300000")
        #expect(answer.fields["Upload-Expires"] == nil)
        #expect(answer.fields["Content-Name"] == "content 1")
        let finished = try #require(fixture.finisher.finished.withLock { $0.first })
        #expect(finished.content.sha256 == SHA256.digest(of: bytes))
        #expect(finished.contentID == UploadFixture.content)
        #expect(await content(uploads) == bytes)
        #expect(fixture.finisher.finished.withLock { $0.count } == 1)
    }

    @Test func `reports its parts, and accepts no bytes (6.10)`() async throws {
        let uploads = try await fixture.open()
        let one = try await part(uploads, [1, 2], number: 1)
        let answer = await join(uploads, [one, one], [("Upload-Metadata", "filename YQ==")])
        let url = try #require(answer.fields["Location"])
        let status = await uploads.tus(.head, url)
        #expect(status.fields["Upload-Offset"] == "4")
        #expect(status.fields["Upload-Length"] == "4")
        #expect(status.fields["Upload-Concat"] == "final;\(one) \(one)")
        #expect(status.fields["Upload-Metadata"] == "filename YQ==")
        #expect(await uploads.patch(url, at: 4, []).status == .forbidden)
        #expect(await uploads.patch(url, at: 0, [1]).status == .forbidden)
        #expect(await content(uploads) == [1, 2, 1, 2])
    }

    @Test func `parts can be used several times, and are no content themselves (6.10)`()
        async throws
    {
        let uploads = try await fixture.open()
        let created = await uploads.create(
            [
                ("Upload-Concat", "partial"), ("Upload-Length", "2"),
                ("Upload-Metadata", "filename YQ=="),
            ], content: 1)
        #expect(created.fields["Content-Name"] == nil)
        let one = try #require(created.fields["Location"])
        _ = await uploads.patch(one, at: 0, [1, 2])
        #expect(fixture.finisher.finished.withLock { $0.isEmpty })
        let status = await uploads.tus(.head, one)
        #expect(status.fields["Upload-Concat"] == "partial")
        #expect(status.fields["Upload-Offset"] == "2")
        #expect(await join(uploads, [one]).status == .created)
        #expect(fixture.finisher.finished.withLock { $0.first?.content.fileName } == nil)
        let again = await uploads.create(
            [("Upload-Concat", "final;\(one) \(one) \(one)")], content: 3)
        #expect(again.fields["Upload-Offset"] == "6")
        #expect(uploads.statistics.open == [:])
    }

    @Test func `of empty parts is empty (6.10)`() async throws {
        let uploads = try await fixture.open()
        let empty = await uploads.create(
            [("Upload-Concat", "partial"), ("Upload-Length", "0")], content: 1)
        let answer = await join(uploads, [try #require(empty.fields["Location"])])
        #expect(answer.status == .created)
        #expect(answer.fields["Upload-Offset"] == "0")
        #expect(fixture.finisher.finished.withLock { $0.first?.content.size } == 0)
    }

    @Test func `each error has its status, and creates nothing (6.10)`() async throws {
        let uploads = try await fixture.open()
        let good = try await part(uploads, [1, 2], number: 1)
        let unfinished = try await part(uploads, [1], number: 2, length: 2)
        let ended = try await part(uploads, [1], number: 3)
        #expect(await uploads.tus(.delete, ended).status == .noContent)
        let plain = try #require(
            await uploads.create([("Upload-Length", "1")], content: 4).fields["Location"])
        let foreign = try #require(
            await uploads.create(
                [
                    ("Upload-Concat", "partial"), ("Upload-Length", "0"),
                    ("Test-Application", "other"),
                ], content: 5
            ).fields["Location"])
        let unknown = "/uploads/abcdefghijklmnopqrstuvwxyz012345"
        let data = (name: "Content-Type", value: "application/offset+octet-stream")
        let before = try uploads.blobs.stagedEntries().count
        for (urls, status) in [
            ([unfinished], 400), ([plain], 400), (["https://evil.example\(unknown)"], 400),
            ([unknown], 404), ([foreign], 404), ([ended], 410), ([good, unknown], 404),
            ([good, ""], 400), ([], 400),
        ] as [([String], Int)] {
            #expect(await join(uploads, urls).status.code == status)
        }
        let withData = await join(uploads, [good], [data], ScriptedBody([1]))
        #expect(withData.status == .forbidden)
        #expect(await join(uploads, [good], [("Upload-Length", "3")]).status == .badRequest)
        #expect(await join(uploads, [good], [("Upload-Defer-Length", "1")]).status == .badRequest)
        #expect(try uploads.blobs.stagedEntries().count == before)
        #expect(await join(uploads, [good], [("Upload-Length", "2")]).status == .created)
    }

    @Test func `a total length above the limit is refused (6.10)`() async throws {
        let uploads = try await fixture.open()
        let one = try await part(uploads, bytes, number: 1)
        let answer = await join(uploads, [one, one, one, one])
        #expect(answer.status == .contentTooLarge)
    }

    @Test func `parts expire, and their bytes are deleted (6.10)`() async throws {
        let uploads = try await fixture.open()
        let one = try await part(uploads, [1, 2], number: 1)
        fixture.pass(fixture.settings.idleTTL)
        #expect(await uploads.tus(.head, one).status == .gone)
        #expect(await join(uploads, [one]).status == .gone)
        await uploads.sweep()
        #expect(try uploads.blobs.stagedEntries().isEmpty)
        #expect(await uploads.tus(.head, one).status == .gone)
    }

    @Test func `a finished part survives a restart (11.2)`() async throws {
        let uploads = try await fixture.open()
        let one = try await part(uploads, bytes, number: 1)
        let reopened = try await fixture.open()
        #expect(await join(reopened, [one, one]).status == .created)
        #expect(await content(reopened) == bytes + bytes)
    }

    @Test func `a concatenation that was not finished is finished after a restart (11.2)`()
        async throws
    {
        let uploads = try await fixture.open()
        let one = try await part(uploads, bytes, number: 1)
        fixture.finisher.behaviour.withLock { $0 = .breaks }
        let answer = await join(uploads, [one])
        #expect(answer.status == .created)
        let url = try #require(answer.fields["Location"])
        fixture.finisher.behaviour.withLock { $0 = .takes }
        // With shared records, the first finisher counts as alive for this long.
        fixture.pass(SharedUploadRecords.claimDuration)
        let reopened = try await fixture.open()
        #expect(await reopened.tus(.head, url).fields["Upload-Offset"] == "300000")
        #expect(await reopened.put(url, "bytes */*").status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: bytes))
    }

    @Test(.enabled(if: UploadFixture.keepsRecords))
    func `a copy with damaged bytes never becomes a content (4.5)`() async throws {
        let uploads = try await fixture.open()
        let one = try await part(uploads, bytes, number: 1)
        // A byte changes on the disk without the module's knowledge.
        let blob = try #require(BlobName(UploadFixture.content(number: 1)))
        try uploads.blobs.stage(blob).write([0xEE].span, at: 1234)
        let answer = await join(uploads, [one])
        #expect(answer.status == .internalServerError)
        #expect(fixture.finisher.finished.withLock { $0.isEmpty })
    }
}
