import Blobs
import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `An interrupted upload` {
    private let fixture = UploadFixture()
    private let bytes = patternBytes(100_000)

    @Test func `keeps every byte before the cut and continues (5.12)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 100_000))
        let cut = ScriptedBody(
            [.bytes(Array(bytes[..<33_333])), .fails(.interrupted)], length: 100_000)
        let dropped = await uploads.send(
            .put, url, [("Content-Range", "bytes 0-99999/100000")], cut)
        #expect(dropped.ending == .drop)
        #expect(await uploads.put(url, "bytes */*").fields["Range"] == "bytes=0-33332")
        let again = await uploads.put(url, "bytes 0-99999/100000", bytes)
        #expect(again.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: bytes))
    }

    @Test func `never completes, even if every byte arrived (1.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let body = ScriptedBody([.bytes([1, 2, 3]), .fails(.interrupted)], length: nil)
        _ = await uploads.send(.put, url, [], body)
        #expect(await uploads.offset(url) == "3")
        #expect(fixture.finisher.finished.withLock { $0.isEmpty })
        #expect(await uploads.put(url, "bytes */*").status == .ok)
    }

    @Test func `that stalled can continue at once (3.5)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let body = ScriptedBody([.bytes([1, 2]), .fails(.stalled)], length: 10)
        let answer = await uploads.send(.put, url, [], body)
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.ending == .close)
        #expect(answer.fields["Retry-After"] == "1")
        #expect(await uploads.offset(url) == "2")
    }

    @Test func `is taken over by a newer request, and the old one gets no answer (11.4)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let old = ScriptedBody([.bytes([0, 1, 2, 3]), .pause, .bytes([9])], length: 10)
        async let displaced = uploads.send(.put, url, [], old)
        await old.untilPaused()
        #expect(await uploads.put(url, "bytes */*").fields["Range"] == "bytes=0-3")
        #expect(await displaced.ending == .drop)
        let rest = await uploads.put(url, "bytes 4-9/10", [4, 5, 6, 7, 8, 9])
        #expect(rest.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: Array(0...9)))
    }

    @Test func `a request that does not fit does not interrupt the writer (11.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let running = ScriptedBody([.bytes([0, 1]), .pause, .bytes(Array(2...9))], length: 10)
        async let answer = uploads.send(.put, url, [], running)
        await running.untilPaused()
        let stray = await uploads.put(url, "bytes 8-9/10", [8, 9])
        #expect(stray.status == .resumeIncomplete)
        running.release()
        #expect(await answer.status == .ok)
    }

    @Test func `a neutral status does not interrupt the writer (3.8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let running = ScriptedBody([.bytes([0, 1]), .pause, .bytes([2, 3])], length: 4)
        async let answer = uploads.send(.put, url, [], running)
        await running.untilPaused()
        #expect(await uploads.send(.get, url).text.contains("\"length\":4"))
        running.release()
        #expect(await answer.status == .ok)
    }

    @Test func `a writer that cannot be interrupted makes a newer request fail (11.4)`()
        async throws
    {
        let fixture = UploadFixture()
        let uploads = try await Uploads(
            folder: "\(fixture.temporary.path)/uploads", settings: fixture.settings,
            finisher: fixture.finisher,
            clock: UploadClock(now: { 0 }, sleep: { _ in }), publicBase: "https://chat.example")
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let stuckBody = UninterruptibleBody()
        let name = try #require(UploadToken(String(url.dropFirst(29)))?.recordName)
        let upload = try #require(try await uploads.checkOut(name))
        try await upload.takeTurn(stuckBody)
        let answer = await uploads.put(url, "bytes */*")
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.fields["Retry-After"] == "1")
        #expect(stuckBody.wasInterrupted.withLock { $0 })
    }

    @Test func `has its bytes committed while the sender pauses (4.1)`() async throws {
        let uploads = try await Uploads(
            folder: "\(fixture.temporary.path)/uploads", settings: fixture.settings,
            finisher: fixture.finisher,
            clock: UploadFixture.fastClock(upTo: fixture.settings.commitInterval),
            publicBase: "https://chat.example")
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let running = ScriptedBody([.bytes([0, 1]), .pause, .bytes([2, 3])], length: 4)
        async let answer = uploads.send(.put, url, [], running)
        await running.untilPaused()
        while await uploads.offset(url) != "2" { await Task.yield() }
        running.release()
        #expect(await answer.status == .ok)
    }

    @Test func `by shutdown can continue after the restart (11.10)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let running = ScriptedBody([.bytes([0, 1]), .pause, .bytes([2, 3])], length: 4)
        async let answer = uploads.send(.put, url, [], running)
        await running.untilPaused()
        await uploads.shutdown()
        #expect(await answer.status == .serviceUnavailable)
        #expect(await answer.ending == .close)
        let reopened = try await fixture.open()
        #expect(await reopened.offset(url) == "2")
    }
}

/// A body that ignores interruptions.
private final class UninterruptibleBody: RequestBody {
    let length: Int64? = nil
    let wasInterrupted = Locked(false)

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {}
    func interrupt() { wasInterrupted.withLock { $0 = true } }
}
