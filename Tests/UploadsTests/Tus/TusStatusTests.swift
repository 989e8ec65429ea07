import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `The status of an upload in tus` {
    private let fixture = UploadFixture()

    @Test func `has the offset and the length (6.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        _ = await uploads.patch(url, at: 0, [0, 1, 2])
        let answer = await uploads.tus(.head, url)
        #expect(answer.status == .ok)
        #expect(answer.fields["Upload-Offset"] == "3")
        #expect(answer.fields["Upload-Length"] == "10")
        #expect(answer.fields["Upload-Defer-Length"] == nil)
        #expect(answer.fields["Cache-Control"] == "no-store")
        #expect(answer.fields["Tus-Resumable"] == "1.0.0")
        // Seven days after the last byte.
        #expect(answer.fields["Upload-Expires"] == "Sun, 24 Mar 2030 17:46:40 GMT")
    }

    @Test func `of a complete upload is its length, without an expiry (6.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 2))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let answer = await uploads.tus(.head, url)
        #expect(answer.fields["Upload-Offset"] == "2")
        #expect(answer.fields["Upload-Length"] == "2")
        #expect(answer.fields["Upload-Expires"] == nil)
    }

    @Test func `of an upload that is being finished is its length (6.4)`() async throws {
        fixture.finisher.behaviour.withLock { $0 = .breaks }
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 2))
        #expect(await uploads.patch(url, at: 0, [0, 1]).status == .internalServerError)
        let answer = await uploads.tus(.head, url)
        #expect(answer.status == .ok)
        #expect(answer.fields["Upload-Offset"] == "2")
        fixture.finisher.behaviour.withLock { $0 = .takes }
        #expect(await uploads.patch(url, at: 2, []).status == .noContent)
    }

    @Test func `its expiry is extended by new bytes only (6.7)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let first = await uploads.patch(url, at: 0, [0]).fields["Upload-Expires"]
        fixture.pass(60_000)
        #expect(await uploads.patch(url, at: 1, []).fields["Upload-Expires"] == first)
        let later = await uploads.patch(url, at: 1, [1]).fields["Upload-Expires"]
        #expect(later == "Sun, 24 Mar 2030 17:47:40 GMT")
        #expect(await uploads.tus(.head, url).fields["Upload-Expires"] == later)
        fixture.pass(7 * 24 * 3_600_000)
        let gone = await uploads.tus(.head, url)
        #expect(gone.status == .gone)
        #expect(gone.fields["Upload-Offset"] == nil)
        #expect(await uploads.patch(url, at: 2, [2]).status == .gone)
    }

    @Test func `of an unknown upload is not found (6.4)`() async throws {
        let uploads = try await fixture.open()
        let answer = await uploads.tus(.head, "/uploads/abcdefghijklmnopqrstuvwxyz012345")
        #expect(answer.status == .notFound)
        #expect(answer.fields["Upload-Offset"] == nil)
        #expect(answer.fields["Tus-Resumable"] == "1.0.0")
    }

    @Test func `takes over from a running request and has its bytes (6.4, 11.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let stalled = ScriptedBody([.bytes([0, 1, 2, 3]), .pause, .bytes([9])], length: 10)
        async let displaced = uploads.patch(url, at: 0, stalled)
        await stalled.untilPaused()
        #expect(await uploads.tusOffset(url) == "4")
        #expect(await displaced.ending == .drop)
        #expect(await uploads.patch(url, at: 4, [4, 5, 6, 7, 8, 9]).status == .noContent)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: Array(0...9)))
    }

    @Test func `a request at another offset does not interrupt the writer (11.4)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let running = ScriptedBody([.bytes([2, 3]), .pause, .bytes(Array(4...9))], length: 8)
        async let answer = uploads.patch(url, at: 2, running)
        await running.untilPaused()
        // Before its first byte, and after its last one.
        for offset in [0, 1, 9] {
            let stray = await uploads.patch(url, at: offset, [7])
            #expect(stray.status == .conflict)
            #expect(stray.fields["Upload-Offset"] == "4")
        }
        running.release()
        #expect(await answer.status == .noContent)
    }

    @Test func `a writer that cannot be interrupted makes other requests get 423 (6.5, 11.4)`()
        async throws
    {
        let uploads = try await Uploads(
            folder: "\(fixture.temporary.path)/uploads", settings: fixture.settings,
            finisher: fixture.finisher, clock: UploadClock(now: { 0 }, sleep: { _ in }),
            publicBase: "https://chat.example")
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let name = try #require(UploadToken(String(url.dropFirst(29)))?.recordName)
        let upload = try #require(try await uploads.checkOut(name))
        try await upload.takeTurn(ScriptedBody([]))
        for answer in [await uploads.tus(.head, url), await uploads.patch(url, at: 0, [1])] {
            #expect(answer.status.code == 423)
            #expect(answer.fields["Retry-After"] == "1")
        }
    }
}

@Suite struct `Terminating an upload in tus` {
    private let fixture = UploadFixture()

    @Test func `is done once, and later requests get 410 (6.9)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let answer = await uploads.tus(.delete, url)
        #expect(answer.status == .noContent)
        #expect(answer.fields["Tus-Resumable"] == "1.0.0")
        #expect(await uploads.tus(.delete, url).status == .gone)
        #expect(await uploads.tus(.head, url).status == .gone)
        fixture.pass(fixture.settings.tombstoneTTL)
        await uploads.sweep()
        #expect(await uploads.tus(.delete, url).status == .notFound)
    }

    @Test func `interrupts a running request (6.9)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let running = ScriptedBody([.bytes([0, 1]), .pause], length: 4)
        async let displaced = uploads.patch(url, at: 0, running)
        await running.untilPaused()
        #expect(await uploads.tus(.delete, url).status == .noContent)
        #expect(await displaced.ending == .drop)
    }

    @Test func `is refused while a message uses the content (6.9)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1))
        _ = await uploads.patch(url, at: 0, [0])
        fixture.finisher.isUsed.withLock { $0 = true }
        #expect(await uploads.tus(.delete, url).status == .forbidden)
        fixture.finisher.isUsed.withLock { $0 = false }
        #expect(await uploads.tus(.delete, url).status == .noContent)
    }

    @Test(arguments: ["PATCH", "patch", "HEAD", "DELETE"])
    func `can be sent as a POST with an override, like every other method (2)`(method: String)
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let answer = await uploads.tus(
            .post, url,
            [
                ("X-HTTP-Method-Override", method), ("Upload-Offset", "0"),
                ("Content-Type", "application/offset+octet-stream"),
            ], ScriptedBody([1]))
        let expected = ["HEAD": ("200", "0"), "DELETE": ("204", nil)][method] ?? ("204", "1")
        #expect("\(answer.status.code)" == expected.0)
        #expect(answer.fields["Upload-Offset"] == expected.1)
    }

    @Test func `other methods are not allowed (6.1)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        for method in [HTTP.Method.put, .post] {
            let answer = await uploads.tus(method, url, [], ScriptedBody([1]))
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.fields["Allow"] == "GET, HEAD, PATCH, DELETE, OPTIONS")
            #expect(answer.fields["Tus-Resumable"] == "1.0.0")
        }
        let override = await uploads.tus(.post, url, [("X-HTTP-Method-Override", "PUT")])
        #expect(override.status == .methodNotAllowed)
        #expect(await uploads.tus(.get, url).text.contains("\"state\":\"created\""))
    }
}
