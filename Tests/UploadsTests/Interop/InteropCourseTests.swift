import Bytes
import HTTP
import SystemSupport
import Testing

@testable import Uploads

@Suite struct `An upload by the IETF protocol` {
    private let fixture = UploadFixture()

    private func client(_ version: Int?) async throws -> InteropClient {
        InteropClient(uploads: try await fixture.open(), version: version)
    }

    @Test(arguments: InteropClient.versions)
    func `gets its URL once, before its body is read (7.5)`(
        version: Int
    ) async throws {
        let client = try await client(version)
        let body = ScriptedBody([.bytes([1]), .fails(.interrupted)], length: 3)
        let lost = await client.send(.post, "/uploads", [client.complete(true)], body)
        #expect(lost.ending == .drop)
        #expect(body.interimResponses.count == 1)
        let hint = try #require(body.interimResponses.first)
        #expect(hint.status.code == 104)
        #expect(hint.fields["Upload-Draft-Interop-Version"] == "\(version)")
        #expect((hint.fields["Upload-Limit"] != nil) == (version >= 6))
        let url = try #require(hint.fields["Location"])
        let held = await client.send(.head, url)
        #expect(held.fields["Upload-Offset"] == "1")
        #expect(client.isComplete(held) == false)
        let last = await client.append([2, 3], at: 1, of: url, isComplete: true)
        #expect(client.isComplete(last) == true)
    }

    @Test func `at a known URL starts again at its first byte (7.6, 7.13)`() async throws {
        let client = try await client(6)
        let url = try await client.uploads.create(UploadFixture.draft(length: 4))
        let body = ScriptedBody([.bytes([1, 2]), .fails(.interrupted)], length: 4)
        let fields = [client.complete(true), (name: "Upload-Length", value: "4")]
        _ = await client.send(.put, url, fields, body)
        #expect(body.interimResponses.first?.fields["Location"] == url)
        let again = await client.send(.put, url, fields, ScriptedBody([1, 2, 3, 4]))
        #expect(again.status == .created)
        #expect(again.fields["Upload-Offset"] == "4")
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: [1, 2, 3, 4])
        )
        let once = await client.send(.put, url, fields, ScriptedBody([1, 2, 3, 4]))
        #expect(once.text == again.text)
    }

    @Test(arguments: [(4, 0), (5, 2), (8, 2)])
    func `gets its offset during the request, from version 5 on (7.5)`(
        version: Int, count: Int
    ) async throws {
        let fixture = UploadFixture {
            $0.progress104Bytes = 4
            $0.commitBytes = 4
            $0.bufferSize = 8
        }
        let uploads = try await fixture.open()
        let client = InteropClient(uploads: uploads, version: version)
        let url = try await client.started()
        let steps: [ScriptedBody.Step] = [0, 0, 4, 8].flatMap { offset in
            let event = ScriptedBody.Step.event {
                while await uploads.offset(url).flatMap(Int.init) ?? 0 < offset {
                    await Task.yield()
                }
                fixture.pass(1000)
            }
            return [event, .bytes([1, 2, 3, 4])]
        }
        let body = ScriptedBody(Array(steps.dropLast()), length: 12)
        let answer = await client.append(body, at: 0, of: url, isComplete: false)
        #expect(answer.fields["Upload-Offset"] == "12")
        let offsets = body.interimResponses.compactMap {
            $0.fields["Upload-Offset"].flatMap(Int.init)
        }
        #expect(offsets.count >= count)
        #expect(offsets == offsets.sorted())
        #expect(body.interimResponses.allSatisfy { $0.fields["Location"] == nil })
        #expect(count > 0 || offsets.isEmpty)
    }

    @Test(arguments: [
        (UploadSettings.Interim104.auto, false, true), (.auto, true, false), (.on, true, true),
        (.off, false, false),
    ]) func `gets no interim response through a proxy that might not forward it (7.5)`(
        mode: UploadSettings.Interim104, isProxied: Bool, getsInterim: Bool
    ) async throws {
        let fixture = UploadFixture { $0.interim104 = mode }
        let uploads = try await fixture.open()
        let body = ScriptedBody([1])
        let request = Request(
            method: .post, target: RequestTarget("/uploads"),
            fields: Fields([
                ("Upload-Draft-Interop-Version", "6"), ("Upload-Complete", "?1"),
                TestUploadAuthorizer.key,
            ]), framing: .length(1), isProxied: isProxied)
        guard
            case .work(_, let work) = uploads.answer(to: request, by: TestUploadAuthorizer())
                .outcome
        else { throw UploadError.notFound }
        #expect(await work(body).status == .created)
        #expect(body.interimResponses.isEmpty == !getsInterim)
    }

    @Test(arguments: InteropClient.versions)
    func `that a status query takes over ends without an answer (11.4, 7.11)`(
        version: Int
    ) async throws {
        let client = try await client(version)
        let url = try await client.started([1])
        let stalled = ScriptedBody([.bytes([2, 3]), .pause], length: 5)
        async let old = client.append(stalled, at: 1, of: url, isComplete: true)
        await stalled.untilPaused()
        // No clock moves: the writer stops because it is interrupted.
        let held = await client.send(.head, url)
        #expect(held.fields["Upload-Offset"] == "3")
        #expect(await old.ending == .drop)
        let rest = await client.append([4, 5, 6], at: 3, of: url, isComplete: true)
        #expect(client.isComplete(rest) == true)
    }

    @Test func `that stalls, or that shutdown stops, is closed without an answer (7.11, 12)`()
        async throws
    {
        let client = try await client(6)
        let url = try await client.started([1])
        let body = ScriptedBody([.bytes([2]), .fails(.stalled)], length: 9)
        #expect(await client.append(body, at: 1, of: url, isComplete: true).ending == .drop)
        #expect(await client.send(.head, url).fields["Upload-Offset"] == "2")
        let running = ScriptedBody([.bytes([3]), .pause], length: 8)
        async let stopped = client.append(running, at: 2, of: url, isComplete: true)
        await running.untilPaused()
        await client.uploads.shutdown()
        #expect(await stopped.ending == .drop)
        let reopened = InteropClient(uploads: try await fixture.open(), version: 6)
        #expect(await reopened.send(.head, url).fields["Upload-Offset"] == "3")
    }

    @Test func `does not complete by its length alone (1.4, 7.8)`() async throws {
        let client = try await client(8)
        let created = await client.create([1, 2], isComplete: false, [("Upload-Length", "2")])
        #expect(created.fields["Upload-Offset"] == "2")
        let url = try #require(created.fields["Location"])
        let held = await client.send(.head, url)
        #expect(client.isComplete(held) == false)
        #expect(held.fields["Upload-Length"] == "2")
        let last = await client.append([], at: 2, of: url, isComplete: true)
        #expect(last.status == .ok)
        #expect(await client.send(.head, url).fields["Upload-Complete"] == "?1")
    }

    @Test func `can be empty`() async throws {
        let client = try await client(8)
        #expect(await client.create([], isComplete: true).text.contains(#""size":"0""#))
        let open = await client.create([], isComplete: false, [("Upload-Length", "0")])
        #expect(open.status == .created)
    }

    @Test(
        arguments: [
            ("attachment; filename=\"a;b\\\"c.png\"", "a;b\"c.png"),
            ("inline; filename=a.png", "a.png"),
            ("attachment; filename=a; filename*=UTF-8''b%20%C3%A4.png", "b ä.png"),
            ("attachment; filename*=latin1''x; filename=a", "a"), ("attachment", nil),
        ] as [(String, String?)])
    func `takes its name from Content-Disposition (7.6)`(value: String, name: String?) {
        #expect(ContentDisposition.fileName(in: value) == name)
    }

    @Test(arguments: [
        ("image/png", "image/png"), ("application/partial-upload", "application/octet-stream"),
    ])
    func `has the media type of its creation, unless that is the protocol's own (7.6)`(
        type: String, stored: String
    ) async throws {
        let client = try await client(7)
        let created = await client.create([1], isComplete: true, [("Content-Type", type)])
        #expect(created.text.contains(#""contentType":"\#(stored)""#))
    }

    @Test func `continues in another protocol (2)`() async throws {
        let client = try await client(6)
        let url = try await client.started([1])
        #expect(await client.uploads.put(url, "bytes 1-1/3", [2]).status == .resumeIncomplete)
        let last = await client.append([3], at: 2, of: url, isComplete: true)
        #expect(last.status == .created)
        #expect(await client.uploads.put(url, "bytes */*").text == last.text)
        #expect(await client.uploads.send(.delete, url).status == .noContent)
    }
}
