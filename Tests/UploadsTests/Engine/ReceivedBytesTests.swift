import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

/// A slow writer, whose connection has received bytes that no read has returned yet (ruling 33).
@Suite struct `Bytes received but not returned by a read yet` {
    private let fixture = UploadFixture()
    private let length = 100

    /// A `PUT` of the whole content, of which `count` bytes were received.
    private func body(_ count: Int) -> ScriptedBody {
        let bytes = patternBytes(length)
        return ScriptedBody(
            [.received(Array(bytes[..<count])), .pause, .bytes(Array(bytes[count...]))],
            length: Int64(length))
    }

    private func content(_ number: Int) -> UploadDraft {
        UploadDraft(
            owner: UploadOwner(application: "app"),
            contentID: "0190cccc-0000-7000-8000-0000000001\(number / 10)\(number % 10)",
            mediaType: "image/png", length: Int64(length))
    }

    private var isWhole: Bool {
        fixture.finisher.finished.withLock { $0.first?.content.sha256 }
            == SHA256.digest(of: patternBytes(length))
    }

    @Test(arguments: [HTTP.Method.head, .get])
    func `are durable and counted by a neutral status, and the writer continues (3.8)`(
        method: HTTP.Method
    ) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(length)))
        let body = body(40)
        async let answer = uploads.send(.put, url, [], body)
        await body.untilPaused()
        let status = await uploads.send(method, url)
        if method == .head {
            #expect(status.fields["Upload-Offset"] == "40")
        } else {
            #expect(status.text.contains("\"offset\":40"))
        }
        let name = try #require(UploadToken(String(url.dropFirst(29)))?.recordName)
        // Nothing was shut down, so another start finds only durable bytes.
        let found = try #require(try await fixture.open().engine.records.find(name))
        #expect(found.record.offset == 40)
        body.release()
        #expect(await answer.status == .ok)
        #expect(isWhole)
    }

    @Test func `are counted in the progress of a content`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(length)))
        let body = body(40)
        async let answer = uploads.send(.put, url, [], body)
        await body.untilPaused()
        #expect(try await uploads.progress(of: UploadFixture.content)?.received == 40)
        body.release()
        #expect(await answer.status == .ok)
    }

    @Test func `are counted by a status query of each protocol, which takes over (11.4)`()
        async throws
    {
        let queries: [(method: HTTP.Method, fields: [(name: String, value: String)])] = [
            (.put, [("Content-Range", "bytes */*")]),
            (.put, [("Content-Range", "bytes */\(length)")]),
            (.head, [("Tus-Resumable", "1.0.0")]),
            (.head, [("Upload-Draft-Interop-Version", "6")]),
            (.head, [("Upload-Draft-Interop-Version", "8")]),
        ]
        let uploads = try await fixture.open()
        for (number, query) in queries.enumerated() {
            let url = try await uploads.create(content(number))
            let body = body(40)
            async let displaced = uploads.send(.put, url, [], body)
            await body.untilPaused()
            let status = await uploads.send(query.method, url, query.fields)
            #expect(
                status.fields["Upload-Offset"] == "40" || status.fields["Range"] == "bytes=0-39")
            #expect(await displaced.ending == .drop)
        }
    }

    @Test func `are the offset where the next append may begin (11.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(length)))
        let body = body(40)
        async let displaced = uploads.send(.put, url, [], body)
        await body.untilPaused()
        let rest = await uploads.patch(url, at: 40, Array(patternBytes(length)[40...]))
        #expect(rest.status == .noContent)
        #expect(await displaced.ending == .drop)
        #expect(isWhole)
    }

    @Test func `are counted in the offset that a refused append gets (6.5)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(length)))
        let body = body(40)
        async let answer = uploads.send(.put, url, [], body)
        await body.untilPaused()
        let stray = await uploads.patch(url, at: 41, [1])
        #expect(stray.status == .conflict)
        #expect(stray.fields["Upload-Offset"] == "40")
        body.release()
        #expect(await answer.status == .ok)
        #expect(isWhole)
    }

    @Test func `are counted after overlapping bytes that are stored already (5.8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(length)))
        #expect(
            await uploads.put(url, "bytes 0-29/\(length)", Array(patternBytes(length)[..<30]))
                .status
                == .resumeIncomplete)
        let body = body(40)
        async let answer = uploads.send(.put, url, [], body)
        await body.untilPaused()
        #expect(await uploads.offset(url) == "40")
        body.release()
        #expect(await answer.status == .ok)
        #expect(isWhole)
    }

    @Test func `of fifty writers are durable after shutdown (11.10)`() async throws {
        let uploads = try await fixture.open()
        var urls: [String] = []
        for number in 0..<50 { urls.append(try await uploads.create(content(number))) }
        let bodies = urls.indices.map { number in body(number + 1) }
        await withTaskGroup(of: Response.self) { group in
            for (url, body) in zip(urls, bodies) {
                group.addTask { await uploads.send(.put, url, [], body) }
            }
            for body in bodies { await body.untilPaused() }
            await uploads.shutdown()
            for await answer in group {
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.ending == .close)
            }
        }
        let reopened = try await fixture.open()
        for (number, url) in urls.enumerated() {
            #expect(await reopened.offset(url) == "\(number + 1)")
        }
    }

    @Test func `of a request with a digest of its body are not counted (4.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(length)))
        let body = body(40)
        async let displaced = uploads.send(
            .put, url, [("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==")], body)
        await body.untilPaused()
        #expect(await uploads.offset(url) == "0")
        #expect(await uploads.put(url, "bytes */*").fields["Range"] == nil)
        #expect(await displaced.ending == .drop)
    }
}
