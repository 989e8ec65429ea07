import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `The quota of an application` {
    private let fixture = UploadFixture { $0.applicationQuota = 10 }

    private func create(
        _ length: Int64?, number: Int = 1, for application: String = "app", in uploads: Uploads
    ) async throws -> String {
        try await uploads.create(
            UploadDraft(
                owner: UploadOwner(application: application),
                contentID: UploadFixture.content(number: number), mediaType: nil, length: length))
    }

    @Test func `counts contents and the declared lengths of uploads (11.6, 11.9)`() async throws {
        let uploads = try await fixture.open()
        let url = try await create(4, in: uploads)
        _ = await uploads.send(.put, url, [], ScriptedBody([1, 2, 3, 4]))
        let open = try await create(6, in: uploads)
        await #expect(throws: UploadError.quotaExceeded(10)) { try await create(1, in: uploads) }
        // Another application has its own quota.
        _ = try await create(10, for: "other", in: uploads)
        _ = await uploads.send(.delete, open)
        _ = try await create(6, in: uploads)
    }

    @Test func `is counted the same after a restart (11.9)`() async throws {
        _ = try await create(8, in: try await fixture.open())
        let reopened = try await fixture.open()
        await #expect(throws: UploadError.quotaExceeded(10)) { try await create(3, in: reopened) }
        _ = try await create(2, in: reopened)
    }

    @Test func `is checked again when a length becomes known (11.6)`() async throws {
        let uploads = try await fixture.open()
        let url = try await create(nil, in: uploads)
        let body = ScriptedBody(patternBytes(11))
        let answer = await uploads.send(.put, url, [], body)
        #expect(answer.status == .insufficientStorage)
        #expect(answer.text.contains("quotaExceeded"))
        #expect(answer.text.contains("may store 10 bytes"))
        #expect(body.reads == 0)
        #expect(await uploads.send(.put, url, [], ScriptedBody(patternBytes(10))).status == .ok)
    }

    @Test func `is checked at the end of a body without a length (11.6)`() async throws {
        let uploads = try await fixture.open()
        let url = try await create(nil, in: uploads)
        let body = ScriptedBody([.bytes(patternBytes(11))], length: nil)
        let answer = await uploads.send(.put, url, [], body)
        #expect(answer.status == .insufficientStorage)
        #expect(fixture.finisher.finished.withLock { $0.isEmpty })
        #expect(await uploads.put(url, "bytes */*").status == .gone)
        #expect(uploads.statistics.ended == [.refused: 1])
        // A refused upload does not count.
        _ = try await create(10, in: uploads)
    }

    @Test func `counts a content once when finishing it is repeated (11.1, 11.6)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await create(6, in: uploads)
        fixture.finisher.behaviour.withLock { $0 = .takesAndBreaks }
        let answer = await uploads.put(url, "bytes 0-5/6", patternBytes(6))
        #expect(answer.status == .internalServerError)
        fixture.finisher.behaviour.withLock { $0 = .takes }
        #expect(await uploads.put(url, "bytes */*").status == .ok)
    }

    @Test func `goes to one of two whose lengths become known at the same time (11.6)`()
        async throws
    {
        let uploads = try await fixture.open()
        let urls = try await [create(nil, in: uploads), create(nil, number: 2, in: uploads)]
        // Both are checked before either is finished.
        fixture.finisher.behaviour.withLock { $0 = .waits }
        async let answers = withTaskGroup { group in
            for url in urls {
                group.addTask {
                    await uploads.send(
                        .put, url, [], ScriptedBody([.bytes(patternBytes(6))], length: nil))
                }
            }
            return await group.reduce(into: []) { codes, answer in codes.append(answer.status.code)
            }
        }
        for url in urls {
            while !(await uploads.send(.get, url).text.contains("finalizing")) {
                await Task.yield()
            }
        }
        fixture.finisher.behaviour.withLock { $0 = .takes }
        #expect(await answers.sorted() == [200, 507])
        #expect(fixture.finisher.finished.withLock { $0.map(\.content.size) } == [6])
        #expect(uploads.statistics.ended[.refused] == 1)
    }

    @Test func `accepts nothing while usage cannot be counted (11.6)`() async throws {
        let uploads = try await fixture.open()
        fixture.finisher.behaviour.withLock { $0 = .breaks }
        await #expect(throws: UploadError.backend) { try await create(1, in: uploads) }
    }

    @Test func `goes to one of two that are created at the same time (11.6)`() async throws {
        let uploads = try await fixture.open()
        let created = await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { (try? await create(6, in: uploads)) != nil }
            }
            return await group.reduce(into: 0) { count, isCreated in count += isCreated ? 1 : 0 }
        }
        #expect(created == 1)
        // The space that the others reserved for a moment is free again.
        _ = try await create(4, in: uploads)
    }
}
