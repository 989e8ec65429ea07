import Blobs
import HTTP
import SystemSupport
import Testing

@testable import Uploads

@Suite struct `The lifetime of an upload` {
    private let fixture = UploadFixture()

    @Test func `without bytes it expires after a day (0)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        fixture.pass(24 * 3_600_000)
        #expect(await uploads.send(.put, url, [], ScriptedBody([1, 2, 3])).status == .gone)
        await uploads.sweep()
        #expect(await uploads.send(.get, url).status == .gone)
    }

    @Test func `it is extended by bytes, not by status requests (0, 11.9)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        _ = await uploads.put(url, "bytes 0-0/3", [1])
        fixture.pass(6 * 24 * 3_600_000)
        await uploads.sweep()
        #expect(await uploads.offset(url) == "1")
        fixture.pass(2 * 24 * 3_600_000)
        await uploads.sweep()
        #expect(await uploads.send(.head, url).status == .gone)
        #expect(try uploads.blobs.stagedEntries().isEmpty)
    }

    @Test func `it ends after thirty days in any case (0)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 100))
        for day in 0..<6 {
            _ = await uploads.put(url, "bytes \(day)-\(day)/100", [1])
            fixture.pass(5 * 24 * 3_600_000)
        }
        #expect(await uploads.put(url, "bytes 6-6/100", [1]).status == .gone)
    }

    @Test func `the answer of an upload finished while the sweeper runs is kept (11.8)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1))
        _ = await uploads.put(url, "bytes 0-0/1", [1])
        // The sweeper's list as it was just before the upload finished.
        let name = try #require(
            UploadToken(url.split(separator: "/").last.map(String.init) ?? "")?.recordName)
        let upload = try #require(try await uploads.checkOut(name))
        var before = await upload.record
        before.state = .finalizing
        uploads.engine.note(name, before)
        await uploads.sweep()
        uploads.checkIn(name)
        #expect(await uploads.put(url, "bytes */1", []).status == .ok)
        fixture.pass(8 * 24 * 3_600_000)
        uploads.engine.note(name, await upload.record)
        await uploads.sweep()
        #expect(await uploads.put(url, "bytes */1", []).status == .notFound)
    }

    @Test func `a content in use cannot be cancelled (5.10)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1))
        _ = await uploads.send(.put, url, [], ScriptedBody([1]))
        fixture.finisher.isUsed.withLock { $0 = true }
        #expect(await uploads.send(.delete, url).status == .forbidden)
        fixture.finisher.isUsed.withLock { $0 = false }
        #expect(await uploads.send(.delete, url).status == .clientClosedRequest)
        #expect(await uploads.bytes(of: UploadFixture.content) == nil)
    }

    @Test func `the open uploads of one owner are limited (0, 12)`() async throws {
        let strict = UploadFixture { $0.maxOpenUploadsPerOwner = 1 }
        let uploads = try await strict.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        await #expect(throws: UploadError.tooManyUploads) {
            _ = try await uploads.create(UploadFixture.draft(length: 3))
        }
        _ = await uploads.send(.delete, url)
        _ = try await uploads.create(UploadFixture.draft(length: 3))
    }

    @Test func `an upload that does not fit on the disk is refused (11.7)`() async throws {
        let full = UploadFixture { $0.diskHeadroom = .max / 2 }
        let uploads = try await full.open()
        await #expect(throws: UploadError.insufficientStorage) {
            _ = try await uploads.create(UploadFixture.draft(length: 3))
        }
    }

    @Test func `URLs are absolute, without a trailing slash, and unique (1.1)`() async throws {
        let uploads = try await fixture.open()
        let first = try await uploads.create(UploadFixture.draft(length: 3))
        let second = try await uploads.create(UploadFixture.draft(length: 3))
        #expect(first.hasPrefix("https://chat.example/uploads/"))
        #expect(first.utf8.count - 29 >= 22)
        #expect(first != second)
        #expect(!first.contains(UploadFixture.content))
    }
}
