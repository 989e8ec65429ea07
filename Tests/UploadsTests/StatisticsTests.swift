import HTTP
import Testing

@testable import Uploads

@Suite struct `Statistics of uploads` {
    private let fixture = UploadFixture()

    @Test func `bytes are counted when durable, ends by their cause (11.11)`() async throws {
        let uploads = try await fixture.open()
        #expect(uploads.statistics == UploadStatistics())
        let url = try await uploads.create(UploadFixture.draft(length: 5))
        #expect(uploads.statistics.open == [.api: 1])
        #expect(uploads.statistics.reserved == [.api: 5])
        _ = await uploads.put(url, "bytes 0-1/5", [1, 2])
        #expect(uploads.traffic(.gcs).committed == 2)
        #expect(uploads.traffic(.gcs).commits == 1)
        #expect(uploads.statistics.reserved == [.api: 3])
        _ = await uploads.put(url, "bytes 2-4/5", [3, 4, 5])
        #expect(uploads.traffic(.gcs).committed == 5)
        #expect(uploads.traffic(.gcs).commits == 2)
        #expect(uploads.statistics.open == [:])
        #expect(uploads.statistics.ended == [.finished: 1])
    }

    @Test func `cancelled and expired uploads are counted separately (11.11)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 5))
        _ = await uploads.send(.delete, url)
        #expect(uploads.statistics.ended == [.cancelled: 1])
        _ = try await uploads.create(UploadFixture.draft(length: 5))
        fixture.pass(fixture.settings.createdTTL + 1)
        await uploads.sweep()
        #expect(uploads.statistics.ended == [.cancelled: 1, .expired: 1])
        #expect(uploads.statistics.expired == [.api: 1])
        #expect(uploads.statistics.open == [:])
    }

    @Test func `an upload without a byte expires no later than any other upload`() async throws {
        let fixture = UploadFixture { settings in settings.absoluteTTL = 3_600_000 }
        let uploads = try await fixture.open()
        _ = try await uploads.create(UploadFixture.draft(length: 5))
        fixture.pass(3_600_001)
        await uploads.sweep()
        #expect(uploads.statistics.ended == [.expired: 1])
    }

    @Test func `requests are counted by protocol and status (11.11)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 5))
        _ = await uploads.put(url, "bytes 0-1/5", [1, 2])
        _ = await uploads.put(url, "bytes */5")
        _ = await uploads.put(url, "nonsense")
        _ = await uploads.send(.head, url)
        _ = await uploads.send(.options, url)
        _ = await uploads.send(.put, url, [], ScriptedBody([1, 2, 3, 4, 5]))
        _ = await uploads.send(.get, "/uploads/nothing")
        #expect(uploads.traffic(.gcs).requests == [308: 2, 400: 1])
        #expect(uploads.traffic(.plain).requests == [200: 1])
        #expect(uploads.traffic(.neutral).requests == [200: 1, 204: 1, 404: 1])
    }

    @Test func `repeated bytes count as overlap, continuing as a resume (11.11)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 6))
        _ = await uploads.put(url, "bytes 0-1/6", [1, 2])
        _ = await uploads.put(url, "bytes 2-2/6", [3])
        #expect(uploads.traffic(.gcs).resumes == 0)
        let broken = ScriptedBody([.bytes([4]), .fails(.interrupted)], length: 3)
        _ = await uploads.send(.put, url, [("Content-Range", "bytes 3-5/6")], broken)
        #expect(uploads.traffic(.gcs).requests == [308: 2, 0: 1])
        _ = await uploads.put(url, "bytes 3-5/6", [4, 5, 6])
        let traffic = uploads.traffic(.gcs)
        #expect(traffic.resumes == 1)
        #expect(traffic.received == 7)
        #expect(traffic.overlap == 1)
        #expect(traffic.committed == 6)
    }

    @Test func `continuing after a crash counts as a resume (11.11)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 2))
        _ = await uploads.put(url, "bytes 0-0/2", [1])
        let reopened = try await fixture.open()
        _ = await reopened.put(url, "bytes 1-1/2", [2])
        #expect(reopened.traffic(.gcs).resumes == 1)
    }

    @Test func `wrong digests of a body and of a content are counted (11.11)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1))
        let wrong = "1B2M2Y8AsgTpgAmY7PhCfg=="
        let body = await uploads.send(.put, url, [("Content-MD5", wrong)], ScriptedBody([1]))
        #expect(body.status == .badRequest)
        #expect(uploads.traffic(.plain).checksumFailures == 1)
        let whole = await uploads.send(
            .put, url, [("X-Goog-Hash", "md5=\(wrong)")], ScriptedBody([1]))
        #expect(whole.status == .badRequest)
        #expect(uploads.traffic(.plain).checksumFailures == 2)
    }

    @Test func `a takeover is counted for the newer request (11.11)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 2))
        let slow = ScriptedBody([.bytes([1]), .pause], length: 2)
        async let first = uploads.send(.put, url, [], slow)
        await slow.untilPaused()
        _ = await uploads.put(url, "bytes */2")
        _ = await first
        #expect(uploads.traffic(.gcs).takeovers == 1)
        #expect(uploads.traffic(.plain).takeovers == 0)
        #expect(uploads.traffic(.plain).requests == [0: 1])
    }
}

extension Uploads {
    fileprivate func traffic(_ dialect: UploadProtocol) -> UploadTraffic {
        statistics.traffic[dialect] ?? UploadTraffic()
    }
}
