import Blobs
import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `Uploading in chunks` {
    private let fixture = UploadFixture()
    private let bytes = patternBytes(600_000)

    @Test func `each chunk is acknowledged with the offset, the last one completes (5.4, 5.6)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 600_000))
        let first = await uploads.put(url, "bytes 0-524287/600000", Array(bytes[..<524_288]))
        #expect(first.status == .resumeIncomplete)
        #expect(first.fields["Range"] == "bytes=0-524287")
        #expect(first.fields["Location"] == nil)
        let last = await uploads.put(url, "bytes 524288-599999/600000", Array(bytes[524_288...]))
        #expect(last.status == .ok)
        #expect(last.fields["X-Goog-Stored-Content-Length"] == "600000")
        let finished = try #require(fixture.finisher.finished.withLock { $0.first })
        #expect(finished.content.sha256 == SHA256.digest(of: bytes))
        #expect(finished.content.md5 != nil)
        #expect(await uploads.bytes(of: UploadFixture.content) == bytes)
    }

    @Test func `the final answer is repeated byte for byte (5.6)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let first = await uploads.send(.put, url, [], ScriptedBody([1, 2, 3]))
        fixture.pass(60_000)
        let reopened = try await fixture.open()
        for range in ["bytes */*", "bytes */99", "bytes 0-2/3", "bytes 7-8/9"] {
            let again = await reopened.put(url, range)
            #expect(again.text == first.text)
            #expect(again.status == .ok)
            #expect(again.fields["ETag"] == first.fields["ETag"])
        }
        let full = await reopened.send(.put, url, [], ScriptedBody([1, 2, 3]))
        #expect(full.text == first.text)
        #expect(fixture.finisher.finished.withLock { $0.count } == 1)
    }

    @Test func `overlapping bytes are skipped and the rest is appended (5.8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        _ = await uploads.put(url, "bytes 0-5/10", [0, 1, 2, 3, 4, 5])
        let again = await uploads.put(url, "bytes 2-7/10", [9, 9, 9, 9, 6, 7])
        #expect(again.fields["Range"] == "bytes=0-7")
        let last = await uploads.send(.put, url, [], ScriptedBody(Array(0...9)))
        #expect(last.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: Array(0...9)))
    }

    @Test func `a chunk after a gap is not read (5.7)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let body = ScriptedBody([5, 6])
        let gap = await uploads.send(.put, url, [("Content-Range", "bytes 5-6/10")], body)
        #expect(gap.status == .resumeIncomplete)
        #expect(gap.fields["Range"] == nil)
        #expect(body.reads == 0)
        let quiet = await uploads.send(
            .put, url, [("Content-Range", "bytes 5-6/10"), ("X-GUploader-No-308", "yes")],
            ScriptedBody([5, 6]))
        #expect(quiet.status == .serviceUnavailable)
        #expect(quiet.text.contains("offsetMismatch"))
    }

    @Test func `a client that cannot handle 308 gets 200 and a header (5.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let answer = await uploads.send(
            .post, url, [("Content-Range", "bytes 0-1/10"), ("X-GUploader-No-308", "yes")],
            ScriptedBody([0, 1]))
        #expect(answer.status == .ok)
        #expect(answer.fields["X-Http-Status-Code-Override"] == "308")
        #expect(answer.fields["Range"] == "bytes=0-1")
    }

    @Test(arguments: [
        ("bytes 0-9/11", 10), ("bytes 0-9/10", 9), ("bytes 0-4/5", 5), ("bytes 0-10/*", 11),
        ("bytes 0-*/10", 11), ("bytes */10", 1), ("nonsense", 4), ("bytes 9-2/10", 1),
    ])
    func `contradicting totals and lengths change nothing (5.2)`(
        range: String, count: Int
    ) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let body = ScriptedBody(patternBytes(count))
        let answer = await uploads.send(.put, url, [("Content-Range", range)], body)
        #expect(answer.status == .badRequest)
        #expect(body.reads == 0)
        #expect(await uploads.offset(url) == "0")
    }

    @Test(arguments: ["bytes */0", "bytes 0-0/0", "bytes 0--1/0", nil])
    func `an empty content can be sent in four ways (5.2)`(range: String?) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        let fields = range.map { [(name: "Content-Range", value: $0)] } ?? []
        let answer = await uploads.send(.put, url, fields)
        #expect(answer.status == .ok)
        #expect(answer.text.contains("\"size\":\"0\""))
    }

    @Test func `an empty PUT is refused if bytes are stored or expected (5.2)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        #expect(await uploads.send(.put, url).status == .badRequest)
        _ = await uploads.put(url, "bytes 0-1/10", [0, 1])
        let answer = await uploads.send(.put, url)
        #expect(answer.text.contains("lengthMismatch"))
        #expect(await uploads.offset(url) == "2")
    }

    @Test func `a repeated full body is read before it is answered (8)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let first = await uploads.send(.put, url, [], ScriptedBody([1, 2, 3, 4]))
        let again = ScriptedBody([1, 2, 3, 4])
        let answer = await uploads.send(.put, url, [], again)
        #expect(answer.text == first.text)
        #expect(again.reads > 0)
        // A body with Expect, or another body, is not read.
        let asking = ScriptedBody([1, 2, 3, 4])
        _ = await uploads.send(.put, url, [("Expect", "100-continue")], asking)
        #expect(asking.reads == 0)
        let other = ScriptedBody([1, 2, 3, 4, 5])
        #expect(await uploads.send(.put, url, [], other).text == first.text)
        #expect(other.reads == 0)
    }

    @Test func `length 0 at creation completes at once (ruling 9)`() async throws {
        let uploads = try await fixture.open()
        _ = try await uploads.create(UploadFixture.draft(length: 0))
        #expect(fixture.finisher.finished.withLock { $0.first?.content.size } == 0)
    }

    @Test func `a chunked body of unknown length completes the content (5.2, 8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        _ = await uploads.send(
            .put, url, [("Content-Range", "bytes 0-1/*")], ScriptedBody([0, 1]))
        let answer = await uploads.send(
            .put, url, [("Content-Range", "bytes 2-*/*")],
            ScriptedBody([.bytes([2]), .bytes([3, 4])], length: nil))
        #expect(answer.status == .ok)
        #expect(answer.fields["X-Goog-Stored-Content-Length"] == "5")
    }

    @Test func `an open range shorter than the declared length is a chunk (5.2)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let answer = await uploads.send(
            .put, url, [("Content-Range", "bytes 0-*/*")], ScriptedBody([.bytes([0])], length: nil))
        #expect(answer.fields["Range"] == "bytes=0-0")
    }

    @Test func `a byte beyond the length stops the body without completing (4.2)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let answer = await uploads.send(
            .put, url, [], ScriptedBody([.bytes([0, 1, 2]), .bytes([3, 4])], length: nil))
        #expect(answer.status == .badRequest)
        #expect(answer.text.contains("lengthMismatch"))
        #expect(await uploads.offset(url) == "4")
        #expect(fixture.finisher.finished.withLock { $0.isEmpty })
        #expect(await uploads.put(url, "bytes */4").status == .ok)
    }

    @Test func `a chunked body that is too short is refused, and its bytes are stored (8)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let answer = await uploads.send(.put, url, [], ScriptedBody([.bytes([0])], length: nil))
        #expect(answer.text.contains("lengthMismatch"))
        #expect(await uploads.offset(url) == "1")
    }

    @Test func `more than the largest upload size is 413 (12)`() async throws {
        let small = UploadFixture { $0.maxUploadSize = 4 }
        let uploads = try await small.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        let body = ScriptedBody([1, 2, 3, 4, 5])
        #expect(await uploads.send(.put, url, [], body).status == .contentTooLarge)
        #expect(body.reads == 0)
        let endless = ScriptedBody([.bytes([1, 2, 3]), .bytes([4, 5])], length: nil)
        #expect(await uploads.send(.put, url, [], endless).status == .contentTooLarge)
        await #expect(throws: UploadError.tooLarge(limit: 4)) {
            _ = try await uploads.create(UploadFixture.draft(length: 5))
        }
    }

    @Test func `a body with a content coding is 415 and never decoded (3.1)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let body = ScriptedBody([1, 2, 3])
        let answer = await uploads.send(.put, url, [("Content-Encoding", "gzip")], body)
        #expect(answer.status == .unsupportedMediaType)
        #expect(answer.fields["Accept-Encoding"] == "identity")
        #expect(body.reads == 0)
    }

    @Test func `bytes are committed while a request runs (4.1)`() async throws {
        let eager = UploadFixture { settings in
            settings.commitBytes = 1000
            settings.bufferSize = 2000
        }
        let uploads = try await eager.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10_000))
        let body = ScriptedBody([.bytes(patternBytes(4000)), .pause], length: 10_000)
        async let answer = uploads.send(.put, url, [], body)
        await body.untilPaused()
        // The last buffer may not be committed yet; the first three of four are.
        var held = 0
        while held < 3000 { held = Int(await uploads.offset(url) ?? "0") ?? 0 }
        #expect(held <= 4000)
        body.interrupt()
        #expect(await answer.ending == .drop)
    }
}
