import Glibc
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

/// The uploads of a user that is erased (X16).
@Suite struct `Uploads of an erased user` {
    private let fixture = UploadFixture()

    private func create(
        _ number: Int, of user: String?, for application: String = "app", in uploads: Uploads
    ) async throws -> String {
        try await uploads.create(
            UploadDraft(
                owner: UploadOwner(application: application, user: user),
                contentID: UploadFixture.content(number: number), mediaType: nil, length: 4))
    }

    @Test func `are cancelled, open or complete, and their records deleted`() async throws {
        let uploads = try await fixture.open()
        let open = try await create(1, of: "ana", in: uploads)
        let complete = try await create(2, of: "ana", in: uploads)
        let cancelled = try await create(3, of: "ana", in: uploads)
        let others = try await [
            create(4, of: "bo", in: uploads), create(5, of: nil, in: uploads),
            create(6, of: "ana", for: "other", in: uploads),
        ]
        _ = await uploads.put(open, "bytes 0-1/4", [1, 2])
        _ = await uploads.put(complete, "bytes 0-3/4", [1, 2, 3, 4])
        _ = await uploads.send(.delete, cancelled)
        #expect(try await uploads.countUploads(of: "ana", in: "app") == (all: 5, named: 3))
        #expect(try await uploads.removeUploads(of: "ana", in: "app") == 3)
        #expect(try await uploads.countUploads(of: "ana", in: "app") == (all: 2, named: 0))
        #expect(try await uploads.removeUploads(of: "ana", in: "app") == 0)
        for url in [open, complete, cancelled] {
            #expect(await uploads.send(.head, url).status == .notFound)
        }
        for url in others { #expect(await uploads.send(.head, url).status.code < 300) }
        #expect(await uploads.bytes(of: UploadFixture.content(number: 2)) == nil)
    }

    @Test func `keep the bytes of a content that is in use`() async throws {
        let uploads = try await fixture.open()
        let url = try await create(1, of: "ana", in: uploads)
        _ = await uploads.put(url, "bytes 0-3/4", [1, 2, 3, 4])
        fixture.finisher.isUsed.withLock { isUsed in isUsed = true }
        #expect(try await uploads.removeUploads(of: "ana", in: "app") == 1)
        #expect(try await uploads.countUploads(of: "ana", in: "app") == (all: 0, named: 0))
        #expect(await uploads.bytes(of: UploadFixture.content(number: 1)) == [1, 2, 3, 4])
    }

    @Test func `are cancelled with their bytes also when they have expired`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(
            UploadDraft(
                owner: UploadOwner(application: "app", user: "ana"),
                contentID: UploadFixture.content, mediaType: nil, length: 4))
        _ = await uploads.put(url, "bytes 0-1/4", [1, 2])
        #expect(access(fixture.stagedPath, F_OK) == 0)
        fixture.pass(fixture.settings.absoluteTTL)
        #expect(try await uploads.removeUploads(of: "ana", in: "app") == 1)
        #expect(try await uploads.countUploads(of: "ana", in: "app") == (all: 0, named: 0))
        #expect(access(fixture.stagedPath, F_OK) != 0)
    }
}
