import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `Appending in tus` {
    private let fixture = UploadFixture()
    private let bytes = patternBytes(100_000)

    @Test
    func `each chunk is acknowledged with 204 and the offset, the last one completes (6.5, 6.11)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 100_000))
        let first = await uploads.patch(url, at: 0, Array(bytes[..<70_000]))
        #expect(first.status == .noContent)
        #expect(first.fields["Upload-Offset"] == "70000")
        #expect(first.fields["Tus-Resumable"] == "1.0.0")
        #expect(first.fields["Upload-Expires"] != nil)
        #expect(first.fields["Cache-Control"] == "no-store")
        let last = await uploads.patch(url, at: 70_000, Array(bytes[70_000...]))
        #expect(last.status == .noContent)
        #expect(last.fields["Upload-Offset"] == "100000")
        #expect(last.fields["Upload-Expires"] == nil)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: bytes))
    }

    /// The rows of the table in order: each request violates its rule and all later ones.
    @Test(
        arguments: [
            ([("Tus-Resumable", "0.2.2")], 412),
            ([("Content-Type", "application/octet-stream")], 415),
            ([("Content-Type", "application/offset+octet-stream; charset=x")], 400),
            ([("Upload-Offset", "")], 400),
            ([("Upload-Offset", "+0")], 400),
            ([("Upload-Offset", "1.0")], 400),
            ([("Upload-Offset", "9223372036854775808")], 400),
            ([("Upload-Offset", "5"), ("Upload-Checksum", "sha1 x")], 400),
            ([("Upload-Offset", "5"), ("Upload-Checksum", "sha3 x")], 400),
            ([("Upload-Offset", "5"), ("Upload-Length", "x")], 409),
            ([("Upload-Offset", "1"), ("Upload-Length", "9")], 409),
            ([("Upload-Offset", "2"), ("Upload-Length", "x")], 400),
            ([("Upload-Offset", "2"), ("Upload-Length", "1")], 400),
            ([("Upload-Offset", "2"), ("Upload-Length", "9")], 400),
            ([("Upload-Offset", "2"), ("Upload-Length", "99999999999")], 400),
            ([("Upload-Offset", "2"), ("Upload-Length", "4")], 413),
            ([("Upload-Offset", "2"), ("Content-Encoding", "gzip")], 415),
        ] as [([(String, String)], Int)])
    func `conditions are evaluated in the order of the table (6.5)`(
        fields: [(String, String)], status: Int
    ) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        #expect(await uploads.patch(url, at: 0, [0, 1]).status == .noContent)
        let names = fields.map(\.0)
        let usual = [
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"),
        ].filter { !names.contains($0.0) }
        let body = ScriptedBody([2, 3, 4])
        let answer = await uploads.send(
            .patch, url, usual + fields.filter { !$0.1.isEmpty }, body)
        #expect(answer.status.code == status)
        #expect(answer.fields["Tus-Resumable"] == "1.0.0")
        #expect(answer.fields["Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer.fields["Tus-Version"] == (status == 412 ? "1.0.0" : nil))
        #expect(answer.fields["Upload-Offset"] == (status == 409 ? "2" : nil))
        #expect(body.reads == 0)
        #expect(await uploads.tusOffset(url) == "2")
    }

    @Test(
        arguments: [
            [("Upload-Offset", "0")], [("Upload-Length", "4"), ("Upload-Length", "4")],
            [("Upload-Checksum", "crc32 AAAAAA=="), ("Upload-Checksum", "crc32 AAAAAA==")],
            [("Tus-Resumable", "1.0.0")],
        ])
    func `a repeated header is refused (3.1)`(fields: [(String, String)]) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        #expect(await uploads.patch(url, at: 0, [1], fields).status == .badRequest)
        #expect(await uploads.tusOffset(url) == "0")
    }

    @Test func `a request without the version is refused (6.1)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let answer = await uploads.send(
            .patch, url,
            [("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", "0")],
            ScriptedBody([1]))
        #expect(answer.status == .preconditionFailed)
        #expect(answer.fields["Tus-Version"] == "1.0.0")
        #expect(await uploads.tusOffset(url) == "0")
    }

    @Test func `an unknown upload is distinguished from one that has ended (6.5)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        let unknown = await uploads.patch(
            "/uploads/abcdefghijklmnopqrstuvwxyz012345", at: 0, [1])
        #expect(unknown.status == .notFound)
        #expect(unknown.text == "notFound: There is no upload at this URL; create a new upload.")
        #expect(await uploads.tus(.delete, url).status == .noContent)
        // The state is checked before the headers.
        let gone = await uploads.tus(.patch, url, [], ScriptedBody([1]))
        #expect(gone.status == .gone)
    }

    @Test func `an empty body at the offset is accepted and returns the offset (6.5)`() async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 4))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let empty = await uploads.patch(url, at: 2, [])
        #expect(empty.status == .noContent)
        #expect(empty.fields["Upload-Offset"] == "2")
    }

    @Test func `a complete upload repeats its answer and accepts no more bytes (6.5)`() async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 2))
        _ = await uploads.patch(url, at: 0, [0, 1])
        let again = await uploads.patch(url, at: 2, [])
        #expect(again.status == .noContent)
        #expect(again.fields["Upload-Offset"] == "2")
        let empty = ScriptedBody([], length: nil)
        #expect(await uploads.patch(url, at: 2, empty).status == .noContent)
        let lost = await uploads.patch(url, at: 0, [0, 1])
        #expect(lost.status == .conflict)
        #expect(lost.fields["Upload-Offset"] == "2")
        #expect(await uploads.patch(url, at: 2, [9]).status == .contentTooLarge)
        let chunked = ScriptedBody([.bytes([9])], length: nil)
        #expect(await uploads.patch(url, at: 2, chunked).status == .contentTooLarge)
        let other = await uploads.patch(url, at: 2, [], [("Upload-Length", "3")])
        #expect(other.status == .badRequest)
        #expect(fixture.finisher.finished.withLock { $0.count } == 1)
    }

    @Test func `a chunked body with a byte too many stores what fits, without completing (4.2)`()
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let body = ScriptedBody([.bytes([0, 1, 2, 3, 4])], length: nil)
        #expect(await uploads.patch(url, at: 0, body).status == .contentTooLarge)
        #expect(await uploads.tusOffset(url) == "3")
        #expect(fixture.finisher.finished.withLock { $0.isEmpty })
        #expect(await uploads.patch(url, at: 3, []).status == .noContent)
        #expect(fixture.finisher.finished.withLock { $0.first?.content.size } == 3)
    }

    @Test func `a truncated body keeps every byte (6.11)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 100_000))
        let cut = ScriptedBody(
            [.bytes(Array(bytes[..<33_333])), .fails(.interrupted)], length: 100_000)
        #expect(await uploads.patch(url, at: 0, cut).ending == .drop)
        #expect(await uploads.tusOffset(url) == "33333")
        let rest = await uploads.patch(url, at: 33_333, Array(bytes[33_333...]))
        #expect(rest.fields["Upload-Offset"] == "100000")
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: bytes))
    }

    @Test func `a stalled body can be retried at once (3.5)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        let body = ScriptedBody([.bytes([1, 2]), .fails(.stalled)], length: 10)
        let answer = await uploads.patch(url, at: 0, body)
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.ending == .close)
        #expect(answer.fields["Retry-After"] == "1")
        #expect(answer.text.hasPrefix("stalled: "))
    }

    @Test func `a full disk stores nothing and keeps the offset (6.5, 11.7)`() async throws {
        let limited = try await fixture.open()
        let url = try await limited.create(UploadFixture.draft(length: 4))
        _ = await limited.patch(url, at: 0, [0, 1])
        var settings = fixture.settings
        settings.diskHeadroom = .max / 2
        let cramped = try await Uploads(
            folder: "\(fixture.temporary.path)/uploads", settings: settings,
            finisher: fixture.finisher, clock: fixture.clock, publicBase: "https://chat.example")
        let body = ScriptedBody([2, 3])
        let answer = await cramped.patch(url, at: 2, body)
        #expect(answer.status == .insufficientStorage)
        #expect(answer.text.hasPrefix("insufficientStorage: "))
        #expect(body.reads == 0)
        #expect(await cramped.tusOffset(url) == "2")
    }
}
