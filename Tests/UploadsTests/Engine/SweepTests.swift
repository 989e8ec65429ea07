import Blobs
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `Sweeping` {
    private let fixture = UploadFixture()

    private func finish(_ number: Int, _ size: Int64, in uploads: Uploads) async throws -> String {
        let id = UploadFixture.content.dropLast() + "\(number)"
        let draft = UploadDraft(
            owner: UploadOwner(application: "app"), contentID: String(id), mediaType: nil,
            length: size)
        let url = try await uploads.create(draft)
        _ = await uploads.send(.put, url, [], ScriptedBody(patternBytes(Int(size))))
        return String(id)
    }

    @Test func `deletes the bytes of unused contents, and reports that (11.8)`() async throws {
        let uploads = try await fixture.open()
        let (gone, kept) = try await (finish(1, 5, in: uploads), finish(2, 7, in: uploads))
        fixture.finisher.unneeded.withLock {
            $0 = [AbandonedContent(application: "app", contentID: gone)]
        }
        await uploads.sweep()
        #expect(fixture.finisher.unneeded.withLock { $0 } == [])
        #expect(await uploads.bytes(of: gone) == nil)
        #expect(await uploads.bytes(of: kept) != nil)
        #expect(uploads.statistics.erased == 1)
        #expect(uploads.statistics.erasedBytes == 5)
    }

    @Test func `queries contents unused for long enough (11.8)`() async throws {
        let uploads = try await fixture.open()
        await uploads.sweep()
        let now = fixture.time.withLock { $0 }
        #expect(fixture.finisher.unusedSince.withLock { $0 } == now - fixture.settings.unusedTTL)
    }

    @Test func `repeats deletions that were not reported, and ignores missing bytes (11.8)`()
        async throws
    {
        let uploads = try await fixture.open()
        let contents = ["../escape", UploadFixture.content].map {
            AbandonedContent(application: "app", contentID: $0)
        }
        fixture.finisher.unneeded.withLock { $0 = contents }
        await uploads.sweep()
        #expect(fixture.finisher.unneeded.withLock { $0 } == [])
        #expect(uploads.statistics.erasedBytes == 0)
    }

    @Test func `deletes a thousand in a run, and the rest in the next (11.8)`() async throws {
        let uploads = try await fixture.open()
        let contents = (1...1100).map {
            AbandonedContent(application: "app", contentID: "content-\($0)")
        }
        fixture.finisher.unneeded.withLock { $0 = contents }
        await uploads.sweep()
        #expect(fixture.finisher.unneeded.withLock { $0.count } == 100)
        await uploads.sweep()
        #expect(fixture.finisher.unneeded.withLock { $0.count } == 0)
    }
}
