import Blobs
import HTTP
import Locking
import Testing

@testable import Uploads

@Suite struct `Sweeping` {
    private let house = House()

    private func finish(_ number: Int, _ size: Int64, in uploads: Uploads) async throws -> String {
        let id = House.content.dropLast() + "\(number)"
        let draft = UploadDraft(
            owner: UploadOwner(application: "app"), contentID: String(id), mediaType: nil,
            length: size)
        let url = try await uploads.create(draft)
        _ = await uploads.send(.put, url, [], ScriptedBody(pattern(Int(size))))
        return String(id)
    }

    @Test func `deletes the bytes of contents nobody needs, and says so (11.8)`() async throws {
        let uploads = try await house.open()
        let (gone, kept) = try await (finish(1, 5, in: uploads), finish(2, 7, in: uploads))
        house.finisher.unneeded.withLock {
            $0 = [AbandonedContent(application: "app", contentID: gone)]
        }
        await uploads.sweep()
        #expect(house.finisher.unneeded.withLock { $0 } == [])
        #expect(await uploads.bytes(of: gone) == nil)
        #expect(await uploads.bytes(of: kept) != nil)
        #expect(uploads.statistics.erased == 1)
        #expect(uploads.statistics.erasedBytes == 5)
    }

    @Test func `asks for what no message has needed for long enough (11.8)`() async throws {
        let uploads = try await house.open()
        await uploads.sweep()
        let now = house.time.withLock { $0 }
        #expect(house.finisher.unusedSince.withLock { $0 } == now - house.settings.unusedTTL)
    }

    @Test func `deletes again what was not told, and what has no bytes (11.8)`() async throws {
        let uploads = try await house.open()
        let contents = ["../escape", House.content].map {
            AbandonedContent(application: "app", contentID: $0)
        }
        house.finisher.unneeded.withLock { $0 = contents }
        await uploads.sweep()
        #expect(house.finisher.unneeded.withLock { $0 } == [])
        #expect(uploads.statistics.erasedBytes == 0)
    }

    @Test func `deletes a thousand in a run, and the rest in the next (11.8)`() async throws {
        let uploads = try await house.open()
        let contents = (1...1100).map {
            AbandonedContent(application: "app", contentID: "content-\($0)")
        }
        house.finisher.unneeded.withLock { $0 = contents }
        await uploads.sweep()
        #expect(house.finisher.unneeded.withLock { $0.count } == 100)
        await uploads.sweep()
        #expect(house.finisher.unneeded.withLock { $0.count } == 0)
    }
}
