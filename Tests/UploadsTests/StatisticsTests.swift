import HTTP
import Testing

@testable import Uploads

@Suite struct `What uploads have come to` {
    private let house = House()

    @Test func `octets count when they are durable, ends by how they came`() async throws {
        let uploads = try await house.open()
        #expect(uploads.statistics == UploadStatistics())
        let url = try await uploads.create(House.draft(length: 5))
        #expect(uploads.statistics.open == 1)
        _ = await uploads.put(url, "bytes 0-1/5", [1, 2])
        #expect(uploads.statistics.received == 2)
        #expect(uploads.statistics.commits == 1)
        _ = await uploads.put(url, "bytes 2-4/5", [3, 4, 5])
        #expect(uploads.statistics.received == 5)
        #expect(uploads.statistics.commits == 2)
        #expect(uploads.statistics.open == 0)
        #expect(uploads.statistics.ended == [.finished: 1])
    }

    @Test func `giving up and running out of time are ends of their own`() async throws {
        let uploads = try await house.open()
        let url = try await uploads.create(House.draft(length: 5))
        _ = await uploads.send(.delete, url)
        #expect(uploads.statistics.ended == [.cancelled: 1])
        _ = try await uploads.create(House.draft(length: 5))
        house.pass(house.settings.createdTTL + 1)
        await uploads.sweep()
        #expect(uploads.statistics.ended == [.cancelled: 1, .expired: 1])
        #expect(uploads.statistics.open == 0)
    }
}
