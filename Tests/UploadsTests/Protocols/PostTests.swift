import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

/// PHP's stream wrapper, curl's `--data-binary` and several SDKs send content this way.
@Suite struct `A POST to an upload URL` {
    private let fixture = UploadFixture()
    private let bytes = patternBytes(1000)

    private func post(
        _ uploads: Uploads, _ url: String, _ fields: [(name: String, value: String)] = [],
        _ body: ScriptedBody? = nil
    ) async -> Response {
        await uploads.send(.post, url, fields, body ?? ScriptedBody(bytes))
    }

    @Test(arguments: [
        nil, "image/png", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a",
        "not a type",
    ])
    func `is a PUT of the whole content, whatever its Content-Type (ruling 22)`(
        type: String?
    ) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1000))
        let fields = type.map { [(name: "Content-Type", value: $0)] } ?? []
        let answer = await post(uploads, url, fields)
        #expect(answer.status == .ok)
        let finished = fixture.finisher.finished.withLock { $0 }
        #expect(finished.map(\.content.sha256) == [SHA256.digest(of: bytes)])
        #expect(finished.first?.content.mediaType == "image/png")
        // Again, by either method, the same answer byte for byte.
        #expect(await post(uploads, url, fields).text == answer.text)
        #expect(await uploads.send(.put, url, [], ScriptedBody(bytes)).text == answer.text)
    }

    @Test func `does not state the media type of the content (ruling 22)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1000, mediaType: nil))
        let form = ("Content-Type", "application/x-www-form-urlencoded")
        #expect(await post(uploads, url, [form]).status == .ok)
        let type = fixture.finisher.finished.withLock { $0.first?.content.mediaType }
        #expect(type == "application/octet-stream")
    }

    @Test func `can be chunked, resumed and checked by digest like a PUT (ruling 22, 8)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        let broken = ScriptedBody(
            [.bytes(Array(bytes[..<400])), .fails(.interrupted)], length: nil)
        #expect(await post(uploads, url, [], broken).ending == .drop)
        #expect(await uploads.offset(url) == "400")
        let wrong = await post(uploads, url, [("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==")])
        #expect(wrong.status == .badRequest)
        let whole = ScriptedBody([.bytes(bytes)], length: nil)
        #expect(await post(uploads, url, [], whole).status == .ok)
    }

    @Test func `of another length than declared is refused like a PUT (8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 999))
        let answer = await post(uploads, url)
        #expect(answer.status == .badRequest)
        #expect(answer.text.contains("lengthMismatch"))
        #expect(answer.text.contains("999 bytes"))
        let statistics = uploads.statistics
        #expect(statistics.traffic[.plain]?.requests == [400: 1])
    }

    @Test(arguments: [
        ("Upload-Offset", "0"), ("X-HTTP-Method-Override", "PATCH"), ("X-Goog-Resumable", "start"),
        ("Content-Type", "application/offset+octet-stream"), ("Upload-Complete", "maybe"),
        ("X-Upload-Content-Length", "1000"),
    ])
    func `with headers of an upload protocol but no version is refused (ruling 22)`(
        name: String, value: String
    ) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1000))
        let answer = await post(uploads, url, [(name, value)])
        #expect(answer.status == .methodNotAllowed)
        #expect(answer.fields["Allow"] == "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS")
        #expect(answer.text.contains(name) || name.hasPrefix("X-Upload"))
        #expect(await uploads.offset(url) == "0")
    }

    @Test func `with the headers of a protocol is a request of that protocol (ruling 22)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1000))
        let part = await post(
            uploads, url, [("Content-Range", "bytes 0-399/1000")],
            ScriptedBody(Array(bytes[..<400])))
        #expect(part.status == .resumeIncomplete)
        let tus = await post(
            uploads, url,
            [
                ("Tus-Resumable", "1.0.0"), ("X-HTTP-Method-Override", "PATCH"),
                ("Upload-Offset", "400"), ("Content-Type", "application/offset+octet-stream"),
            ], ScriptedBody(Array(bytes[400..<700])))
        #expect(tus.status == .noContent)
        let draft = await post(
            uploads, url, [("Upload-Draft-Interop-Version", "8"), ("Upload-Complete", "?1")])
        #expect(draft.status == .ok)
        #expect(await uploads.bytes(of: UploadFixture.content) == bytes)
    }
}
