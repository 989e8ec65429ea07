import Blobs
import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `Creating an upload in tus` {
    private let fixture = UploadFixture { $0.maxUploadSize = 1000 }
    private static let data = (name: "Content-Type", value: "application/offset+octet-stream")

    @Test func `returns an absolute URL, and HEAD returns the metadata (6.3, 6.4)`() async throws {
        let uploads = try await fixture.open()
        let raw = "filename YS5wbmc=, filetype aW1hZ2UvcG5n,empty"
        let answer = await uploads.create([("Upload-Length", "4"), ("Upload-Metadata", raw)])
        #expect(answer.status == .created)
        #expect(answer.fields["Tus-Resumable"] == "1.0.0")
        #expect(answer.fields["Upload-Offset"] == "0")
        // A day from now while no byte has arrived.
        #expect(answer.fields["Upload-Expires"] == "Mon, 18 Mar 2030 17:46:40 GMT")
        #expect(answer.fields["Content-Name"] == "content 1")
        let url = try #require(answer.fields["Location"])
        #expect(url.hasPrefix("https://chat.example/uploads/"))
        #expect(await uploads.tus(.head, url).fields["Upload-Metadata"] == raw)
        #expect(await (try fixture.open()).tus(.head, url).fields["Upload-Metadata"] == raw)
        #expect(await uploads.patch(url, at: 0, [0, 1, 2, 3]).status == .noContent)
        let finished = try #require(fixture.finisher.finished.withLock { $0.first })
        #expect(finished.content.fileName == "a.png")
        #expect(finished.content.mediaType == "image/png")
        #expect(finished.owner == UploadOwner(application: "app"))
        #expect(finished.contentID == UploadFixture.content)
    }

    @Test func `an empty Upload-Metadata is accepted, and HEAD does not return it (6.3, 13)`()
        async throws
    {
        let uploads = try await fixture.open()
        let answer = await uploads.create([("Upload-Length", "4"), ("Upload-Metadata", "")])
        #expect(answer.status == .created)
        let url = try #require(answer.fields["Location"])
        #expect(await uploads.tus(.head, url).fields["Upload-Metadata"] == nil)
    }

    @Test func `of length 0 completes at once (6.3)`() async throws {
        let uploads = try await fixture.open()
        let answer = await uploads.create([("Upload-Length", "0")])
        #expect(answer.status == .created)
        #expect(answer.fields["Upload-Expires"] == nil)
        #expect(fixture.finisher.finished.withLock { $0.first?.content.size } == 0)
    }

    @Test(
        arguments: [
            ([], 400),
            ([("Upload-Length", "4"), ("Upload-Defer-Length", "1")], 400),
            ([("Upload-Defer-Length", "0")], 400),
            ([("Upload-Defer-Length", "true")], 400),
            ([("Upload-Length", "-1")], 400),
            ([("Upload-Length", "4x")], 400),
            ([("Upload-Length", "")], 400),
            ([("Upload-Length", "4"), ("Upload-Length", "4")], 400),
            ([("Upload-Length", "9223372036854775808")], 400),
            ([("Upload-Length", "1001")], 413),
            ([("Upload-Length", "4"), ("Upload-Metadata", "a  b")], 400),
            ([("Upload-Length", "4"), ("Upload-Metadata", "a"), ("Upload-Metadata", "b")], 400),
            ([("Upload-Length", "4"), ("Upload-Concat", "whole")], 400),
        ] as [([(String, String)], Int)])
    func `invalid requests are refused, and nothing is created (6.3)`(
        fields: [(String, String)], status: Int
    ) async throws {
        let uploads = try await fixture.open()
        let answer = await uploads.create(fields.map { (name: $0.0, value: $0.1) })
        #expect(answer.status.code == status)
        #expect(answer.fields["Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer.fields["Tus-Resumable"] == "1.0.0")
        #expect(answer.fields["Content-Name"] == nil)
        #expect(uploads.statistics.open == [:])
    }

    @Test func `needs a version, and then a valid credential (6.1, 6.3)`() async throws {
        let uploads = try await fixture.open()
        let unversioned = await uploads.send(.post, "/uploads", [("Upload-Length", "4")])
        #expect(unversioned.status == .preconditionFailed)
        #expect(unversioned.fields["Tus-Version"] == "1.0.0")
        // Without a valid credential the answer names no other error.
        let unknown = await uploads.tus(.post, "/uploads", [("Upload-Length", "x")])
        #expect(unknown.status == .unauthorized)
        #expect(unknown.fields["Tus-Resumable"] == "1.0.0")
    }

    @Test func `is refused above the limit of open uploads (6.3)`() async throws {
        let busy = UploadFixture { $0.maxOpenUploadsPerOwner = 1 }
        let uploads = try await busy.open()
        #expect(await uploads.create([("Upload-Length", "4")]).status == .created)
        let answer = await uploads.create([("Upload-Length", "4")])
        #expect(answer.status == .tooManyRequests)
        #expect(answer.fields["Retry-After"] != nil)
    }

    @Test func `other methods are not allowed (6.1)`() async throws {
        let uploads = try await fixture.open()
        for method in [HTTP.Method.put, .patch, .head, .delete] {
            #expect(await uploads.tus(method, "/uploads").status == .methodNotAllowed)
        }
    }

    @Test func `accepts data, all or a part of it (6.3)`() async throws {
        let uploads = try await fixture.open()
        let part = await uploads.create([("Upload-Length", "4"), Self.data], ScriptedBody([0, 1]))
        #expect(part.status == .created)
        #expect(part.fields["Upload-Offset"] == "2")
        let url = try #require(part.fields["Location"])
        #expect(await uploads.patch(url, at: 2, [2, 3]).status == .noContent)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: Array(0...3)))
        let whole = await uploads.create(
            [
                ("Upload-Length", "4"),
                ("Content-Type", "Application/Offset+Octet-Stream; charset=x"),
            ], ScriptedBody([.bytes([0, 1, 2, 3])], length: nil))
        #expect(whole.status == .created)
        #expect(whole.fields["Upload-Offset"] == "4")
        #expect(whole.fields["Upload-Expires"] == nil)
    }

    @Test func `accepts data before the length is known (6.6)`() async throws {
        let uploads = try await fixture.open()
        let answer = await uploads.create(
            [("Upload-Defer-Length", "1"), Self.data], ScriptedBody([0, 1]))
        #expect(answer.fields["Upload-Offset"] == "2")
        let url = try #require(answer.fields["Location"])
        #expect(await uploads.tus(.head, url).fields["Upload-Defer-Length"] == "1")
    }

    @Test(arguments: [3, nil])
    func `with more data than its length creates nothing (6.3)`(length: Int64?) async throws {
        let uploads = try await fixture.open()
        let body = ScriptedBody([.bytes([0, 1, 2])], length: length)
        let answer = await uploads.create([("Upload-Length", "2"), Self.data], body)
        #expect(answer.status == .contentTooLarge)
        try expectNoUpload(uploads)
    }

    @Test func `data with a content coding is refused (3.1)`() async throws {
        let uploads = try await fixture.open()
        let body = ScriptedBody([0, 1])
        let answer = await uploads.create(
            [("Upload-Length", "2"), ("Content-Encoding", "gzip"), Self.data], body)
        #expect(answer.status == .unsupportedMediaType)
        #expect(answer.fields["Accept-Encoding"] == "identity")
        #expect(body.reads == 0)
        try expectNoUpload(uploads)
    }

    @Test func `with a wrong checksum creates nothing (6.3)`() async throws {
        let uploads = try await fixture.open()
        let answer = await uploads.create(
            [("Upload-Length", "2"), ("Upload-Checksum", "crc32 AAAAAA=="), Self.data],
            ScriptedBody([0, 1]))
        #expect(answer.status.code == 460)
        try expectNoUpload(uploads)
    }

    @Test func `truncated data is stored until the upload expires (6.3)`() async throws {
        let uploads = try await fixture.open()
        let body = ScriptedBody([.bytes([0, 1]), .fails(.interrupted)], length: 4)
        let answer = await uploads.create([("Upload-Length", "4"), Self.data], body)
        #expect(answer.ending == .drop)
        #expect(uploads.statistics.open == [.tus: 1])
        fixture.pass(fixture.settings.idleTTL)
        await uploads.sweep()
        fixture.pass(fixture.settings.tombstoneTTL)
        await uploads.sweep()
        try expectNoUpload(uploads)
    }

    @Test func `a body of another media type is ignored, up to 64 KiB (6.3, 13)`() async throws {
        let uploads = try await fixture.open()
        let other = [
            (name: "Upload-Length", value: "4"),
            (name: "Content-Type", value: "application/octet-stream"),
        ]
        for body in [
            ScriptedBody([]), ScriptedBody(patternBytes(65_536)),
            ScriptedBody([.bytes(patternBytes(65_536))], length: nil),
        ] {
            let answer = await uploads.create(other, body)
            #expect(answer.status == .created)
            #expect(answer.fields["Upload-Offset"] == "0")
        }
        for body in [
            ScriptedBody(patternBytes(65_537)),
            ScriptedBody([.bytes(patternBytes(65_537))], length: nil),
        ] {
            #expect(await uploads.create(other, body).status == .unsupportedMediaType)
        }
    }

    private func expectNoUpload(
        _ uploads: Uploads, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(uploads.statistics.open == [:], sourceLocation: sourceLocation)
        #expect(try uploads.blobs.stagedEntries().isEmpty, sourceLocation: sourceLocation)
        #expect(try uploads.engine.hasNoRecord, sourceLocation: sourceLocation)
    }
}
