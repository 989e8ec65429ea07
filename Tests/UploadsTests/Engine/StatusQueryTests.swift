import HTTP
import Testing

@testable import Uploads

@Suite struct `A status query` {
    private let fixture = UploadFixture()

    /// An upload with four bytes stored, of known or unknown length.
    private func held(length: Int64?) async throws -> (Uploads, String) {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: length))
        _ = await uploads.send(
            .put, url, [("Content-Range", "bytes 0-3/*")], ScriptedBody([0, 1, 2, 3]))
        return (uploads, url)
    }

    @Test func `with the stored length as total finishes the upload (5.5)`() async throws {
        let (uploads, url) = try await held(length: nil)
        #expect(await uploads.put(url, "bytes */4").status == .ok)
    }

    @Test(arguments: [Int64(3), 9]) func `with another total changes nothing (5.5)`(
        total: Int64
    ) async throws {
        let (uploads, url) = try await held(length: nil)
        let answer = await uploads.put(url, "bytes */\(total)")
        #expect(answer.status == .resumeIncomplete)
        #expect(answer.fields["Range"] == "bytes=0-3")
        #expect(await uploads.put(url, "bytes */4").status == .ok)
    }

    @Test func `without a total never finishes an upload of unknown length (5.5)`() async throws {
        let (uploads, url) = try await held(length: nil)
        #expect(await uploads.put(url, "bytes */*").status == .resumeIncomplete)
    }

    @Test(arguments: [("Content-Range", "rubbish"), ("Content-Encoding", "gzip")])
    func `is validated after the upload's token and state (1.1, 3.2)`(
        name: String, value: String
    ) async throws {
        let (uploads, url) = try await held(length: 4)
        let unknown = "/uploads/\(String(repeating: "A", count: 32))"
        #expect(await uploads.send(.put, unknown, [(name, value)]).status == .notFound)
        let complete = await uploads.put(url, "bytes */4")
        #expect(await uploads.send(.put, url, [(name, value)]).text == complete.text)
        _ = await uploads.send(.delete, url)
        #expect(await uploads.send(.put, url, [(name, value)]).status == .gone)
    }

    @Test func `that contradicts the length is refused (5.5)`() async throws {
        let (uploads, url) = try await held(length: 9)
        let answer = await uploads.put(url, "bytes */4")
        #expect(answer.status == .badRequest)
        #expect(answer.text.contains("lengthMismatch"))
        #expect(await uploads.put(url, "bytes */9").fields["Range"] == "bytes=0-3")
    }

    @Test func `of an empty upload has no Range (5.4)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 9))
        #expect(await uploads.put(url, "bytes */*").fields["Range"] == nil)
    }

    @Test func `of an ended upload is 410, then 404 once its record is deleted (5.5, 5.10)`()
        async throws
    {
        let (uploads, url) = try await held(length: 9)
        #expect(await uploads.send(.delete, url).status == .clientClosedRequest)
        #expect(await uploads.put(url, "bytes */*").status == .gone)
        #expect(await uploads.send(.delete, url).status == .gone)
        fixture.pass(8 * 24 * 3_600_000)
        await uploads.sweep()
        #expect(await uploads.put(url, "bytes */*").status == .notFound)
    }

    @Test(arguments: [
        "/uploads/x", "/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "/uploads/%00",
    ])
    func `of an unknown upload is 404 with one body (1.1)`(path: String) async throws {
        let uploads = try await fixture.open()
        let answer = await uploads.put(path, "bytes */*")
        #expect(answer.status == .notFound)
        let request = Request(method: .put, target: RequestTarget(path), fields: Fields([]))
        #expect(answer.text == UploadError.notFound.response(to: request, fixture.settings).text)
    }

    @Test func `with a chunked body that is not empty is refused (5.2)`() async throws {
        let (uploads, url) = try await held(length: 9)
        let answer = await uploads.send(
            .put, url, [("Content-Range", "bytes */*")], ScriptedBody([.bytes([1])], length: nil))
        #expect(answer.status == .badRequest)
    }
}
