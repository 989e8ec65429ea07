import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `A deferred length` {
    private let fixture = UploadFixture { $0.maxUploadSize = 100 }

    @Test func `is unknown until a request states it (6.6)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let before = await uploads.tus(.head, url)
        #expect(before.fields["Upload-Defer-Length"] == "1")
        #expect(before.fields["Upload-Length"] == nil)
        #expect(await uploads.patch(url, at: 2, [2], [("Upload-Length", "5")]).status == .noContent)
        let after = await uploads.tus(.head, url)
        #expect(after.fields["Upload-Defer-Length"] == nil)
        #expect(after.fields["Upload-Length"] == "5")
        #expect(
            await uploads.patch(url, at: 3, [3], [("Upload-Length", "6")]).status == .badRequest)
        #expect(await uploads.patch(url, at: 3, [3], [("Upload-Length", "5")]).status == .noContent)
    }

    @Test func `can be stated without bytes, and survives a restart (6.6)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        #expect(await uploads.patch(url, at: 0, [], [("Upload-Length", "5")]).status == .noContent)
        let reopened = try await fixture.open()
        #expect(await reopened.tus(.head, url).fields["Upload-Length"] == "5")
    }

    @Test func `completes the upload when it equals the offset (6.6)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let last = await uploads.patch(url, at: 2, [], [("Upload-Length", "2")])
        #expect(last.status == .noContent)
        #expect(fixture.finisher.finished.withLock { $0.first?.content.size } == 2)
    }

    @Test func `can be stated with the last bytes (6.6)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        let last = await uploads.patch(url, at: 0, [0, 1], [("Upload-Length", "2")])
        #expect(last.fields["Upload-Offset"] == "2")
        #expect(fixture.finisher.finished.withLock { $0.first?.content.size } == 2)
    }

    @Test(arguments: [("1", 400), ("101", 413), ("-2", 400), ("3", 413)])
    func `is refused when it is invalid (6.5)`(length: String, status: Int) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let body = ScriptedBody([2, 3])
        let answer = await uploads.patch(url, at: 2, body, [("Upload-Length", length)])
        #expect(answer.status.code == status)
        #expect(body.reads == 0)
        #expect(await uploads.tus(.head, url).fields["Upload-Defer-Length"] == "1")
    }

    @Test func `is limited by the largest upload size (6.6)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        let body = ScriptedBody(patternBytes(101))
        #expect(await uploads.patch(url, at: 0, body).status == .contentTooLarge)
        #expect(body.reads == 0)
        let chunked = ScriptedBody([.bytes(patternBytes(101))], length: nil)
        #expect(await uploads.patch(url, at: 0, chunked).status == .contentTooLarge)
        #expect(await uploads.tusOffset(url) == "100")
    }

    @Test func `of a request that is rolled back is not stored (4.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        let wrong = await uploads.patch(
            url, at: 0, [1], [("Upload-Length", "5"), ("Upload-Checksum", "crc32 AAAAAA==")])
        #expect(wrong.status.code == 460)
        #expect(await uploads.tus(.head, url).fields["Upload-Defer-Length"] == "1")
    }
}
