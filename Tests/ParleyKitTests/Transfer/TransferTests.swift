import FoundationEssentials
import TestSupport
import Testing

@testable import ParleyKit

/// Uploads and downloads with a real server.
@Suite(.timeLimit(.minutes(10))) struct TransferTests {
    @Test func `parts of every kind reach the other side (K37, K40, K43)`() async throws {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let (kept, moved) = (try fixture.file(3_000_001), try fixture.file(200_000, 2))
        let small = try fixture.file(100, 3)
        let pieces = (0..<40).map { number in [UInt8](repeating: UInt8(number), count: 9_999) }
        let source = PieceSource(pieces)
        let message = try await ana.send(
            [
                .text("Photos"), .file(kept.url, mimeType: "image/png"),
                .file(moved.url, mimeType: "video/mp4", keepsOriginal: false),
                .file(small.url, mimeType: "text/x", keepsOriginal: false),
                .data(Data(kept.bytes.prefix(5000)), mimeType: "a/b"),
                .data(Data(kept.bytes.prefix(2048)), mimeType: "a/b"),
                .stream({ await source.next() }, mimeType: "c/d"),
                .stream({ nil }, mimeType: "c/d"),
            ], to: conversation)
        #expect(
            message.parts.map(\.transferStatus) == [
                .complete, .awaitingUpload, .awaitingUpload, .complete, .awaitingUpload, .complete,
                .awaitingUpload, .complete,
            ])
        #expect(message.delivery == .queued)
        #expect(FileManager.default.fileExists(atPath: kept.url.path))
        #expect(!FileManager.default.fileExists(atPath: moved.url.path))
        #expect(!FileManager.default.fileExists(atPath: small.url.path))
        // The caller may change its own file.
        try Data([1, 2, 3]).write(to: kept.url)
        #expect(ana.transfer(of: message.parts[1].id)?.direction == .upload)
        #expect(ana.transfer(of: message.parts[0].id) == nil)
        let later = try await ana.send([.text("after")], to: conversation)

        ana.connect()
        bo.connect()
        try await ana.waitUntilSent(message.id)
        try await ana.waitUntilSent(later.id)
        let sent = try await ana.parts(of: message.id)
        #expect(sent.allSatisfy { $0.transferStatus == .complete })
        #expect(ana.transfer(of: sent[1].id) == nil)
        #expect(try await ana.bytes(of: sent[1].id) == kept.bytes)
        #expect(try await ana.diskUtilization == Int64(3_000_001 + 200_000 + 5000 + 399_960))
        try await ana.purge(sent[2].id)
        #expect(try await ana.parts(of: message.id)[2].transferStatus == .readyForDownload)
        #expect(try await bo.lastPart(in: conversation, 2).text == "after")

        let parts = try await bo.parts(of: message.id)
        let expected = [
            Array("Photos".utf8), kept.bytes, moved.bytes, small.bytes,
            Array(kept.bytes.prefix(5000)), Array(kept.bytes.prefix(2048)), pieces.flatMap { $0 },
            [],
        ]
        #expect(parts.map(\.size) == expected.map { Int64($0.count) })
        for (part, bytes) in zip(parts, expected) {
            if part.inline == nil {
                #expect(part.transferStatus == .readyForDownload)
                #expect(try await bo.content(of: part.id) == nil)
                let transfer = try await bo.download(part.id)
                try await transfer.wait()
                #expect(transfer.progress.fractionCompleted == 1)
                let again = try await bo.download(part.id)
                #expect(again.progress.isFinished)
            } else {
                await #expect(throws: ParleyError.self) { try await bo.download(part.id) }
            }
            #expect(try await bo.bytes(of: part.id) == bytes)
            #expect(
                try await bo.content(of: part.id)?.read(1..<4) == Array(bytes.dropFirst().prefix(3))
            )
        }
        #expect(try await bo.diskUtilization == Int64(3_000_001 + 200_000 + 5000 + 399_960))
        for client in [ana, bo] { await client.close() }
    }

    @Test func `a file passes ten cuts in each direction (K38, K43)`() async throws {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let file = try fixture.file(24_000_000)
        ana.connect()
        try await eventually("ana is live") { ana.connection == .live }
        fixture.proxy.cut(every: 2_000_000, times: 10)
        let message = try await ana.send(
            [.file(file.url, mimeType: "video/mp4")], to: conversation)
        let upload = try #require(ana.transfer(of: message.parts[0].id))
        try await kicking(ana) { try await upload.wait() }
        try await kicking(ana) { _ = try await ana.waitUntilSent(message.id) }
        #expect(fixture.proxy.cutsLeft == 0)
        // From the start after each cut it would be 44 MB; what is in the buffers of sockets at a cut is lost.
        #expect(fixture.proxy.forwarded < 40_000_000, "bytes were sent again")
        await ana.close()

        bo.connect()
        let part = try await bo.lastPart(in: conversation)
        #expect(part.id == message.parts[0].id)
        let before = fixture.proxy.forwarded
        fixture.proxy.cut(every: 2_000_000, times: 10)
        let download = try await bo.download(part.id)
        try await kicking(bo) { try await download.wait() }
        #expect(fixture.proxy.cutsLeft == 0)
        #expect(fixture.proxy.forwarded - before < 40_000_000, "bytes were received again")
        #expect(try await bo.bytes(of: part.id) == file.bytes)
        await bo.close()
    }

    @Test func `a lost answer has no second effect`() async throws {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let file = try fixture.file(500_000)
        bo.connect()
        ana.connect()
        try await eventually("ana is live") { ana.connection == .live }
        let message = try await ana.send([.file(file.url, mimeType: "a/b")], to: conversation)
        // Wherever the upload and the send are, the answers under way are lost several times.
        for _ in 0..<6 {
            fixture.proxy.withholdAnswers(true)
            try await Task.sleep(for: .milliseconds(40))
            fixture.proxy.cut()
            fixture.proxy.withholdAnswers(false)
            ana.kick()
            try await Task.sleep(for: .milliseconds(40))
        }
        try await kicking(ana) { _ = try await ana.waitUntilSent(message.id) }
        bo.kick()
        let part = try await bo.lastPart(in: conversation)
        #expect(try await bo.messages(in: conversation).map(\.id) == [message.id])
        try await kicking(bo) { try await bo.download(part.id).wait() }
        #expect(try await bo.bytes(of: part.id) == file.bytes)
        for client in [ana, bo] { await client.close() }
    }

    @Test func `transfers go on after the server and the client have ended (K41, K45)`()
        async throws
    {
        let fixture = try TransferFixture()
        var ana = try await fixture.client("ana")
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let file = try fixture.file(8_000_000)
        fixture.proxy.throttle(1_000_000)
        ana.connect()
        let message = try await ana.send(
            [.file(file.url, mimeType: "video/mp4")], to: conversation)
        let part = message.parts[0].id
        try await eventually("a part is uploaded") {
            (ana.transfer(of: part)?.progress.completed ?? 0) > 1_000_000
        }
        // So slow that it does not end before the client is closed, however busy the machine is.
        fixture.proxy.throttle(200_000)
        #expect(try await ana.message(message.id)?.delivery == .uploading)
        fixture.server.kill()
        fixture.server.start()
        try await eventually("more is uploaded") {
            ana.kick()
            return ana.connection == .live
                && (ana.transfer(of: part)?.progress.completed ?? 0) > 1_000_000
        }
        await ana.close()
        fixture.proxy.throttle(0)
        ana = try await fixture.client("ana")
        let upload = try #require(ana.transfer(of: part))
        #expect(try await ana.parts(of: message.id)[0].transferStatus == .uploading)
        ana.connect()
        try await upload.wait()
        try await ana.waitUntilSent(message.id)
        await ana.close()

        fixture.proxy.throttle(1_000_000)
        var bo = try await fixture.client("bo")
        bo.connect()
        _ = try await bo.lastPart(in: conversation)
        let download = try await bo.download(part)
        try await eventually("a part is downloaded") { download.progress.completed > 1_000_000 }
        fixture.proxy.throttle(200_000)
        #expect(try await bo.parts(of: message.id)[0].transferStatus == .downloading)
        await bo.close()
        fixture.proxy.throttle(0)
        bo = try await fixture.client("bo")
        let rest = try #require(bo.transfer(of: part))
        #expect(rest.progress.completed > 1_000_000)
        let before = fixture.proxy.forwarded
        bo.connect()
        try await rest.wait()
        #expect(fixture.proxy.forwarded - before < 7_500_000)
        #expect(try await bo.bytes(of: part) == file.bytes)
        await bo.close()
    }

    @Test func `a paused transfer stays paused over a restart (K35, K37)`() async throws {
        let fixture = try TransferFixture()
        var ana = try await fixture.client("ana")
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let file = try fixture.file(4_000_000)
        fixture.proxy.throttle(300_000)
        ana.connect()
        let message = try await ana.send([.file(file.url, mimeType: "a/b")], to: conversation)
        let overtaking = MessageOptions(mayBeOvertaken: true)
        let part = message.parts[0].id
        try await eventually("a part is uploaded") {
            (ana.transfer(of: part)?.progress.completed ?? 0) > 500_000
        }
        ana.transfer(of: part)?.pause()
        #expect(ana.transfer(of: part)?.progress.isPaused == true)
        await ana.close()
        ana = try await fixture.client("ana")
        ana.connect()
        let upload = try #require(ana.transfer(of: part))
        #expect(upload.progress.isPaused)
        try await eventually("ana is live") { ana.connection == .live }
        let held = try await ana.send([.text("held up")], to: conversation)
        try await Task.sleep(for: .milliseconds(300))
        #expect(upload.progress.isPaused)
        #expect(try await ana.message(held.id)?.isSent == false)
        fixture.proxy.throttle(0)
        upload.resume()
        try await upload.wait()
        try await ana.waitUntilSent(held.id)

        // A message that may be overtaken does not hold up later ones.
        fixture.proxy.throttle(300_000)
        let slow = try await ana.send(
            [.file(try fixture.file(4_000_000, 2).url, mimeType: "a/b")], to: conversation,
            overtaking)
        ana.transfer(of: slow.parts[0].id)?.pause()
        try await ana.waitUntilSent(try await ana.send([.text("fast")], to: conversation).id)
        #expect(try await ana.message(slow.id)?.isSent == false)
        fixture.proxy.throttle(0)
        ana.transfer(of: slow.parts[0].id)?.resume()
        try await ana.waitUntilSent(slow.id)
        await ana.close()
    }

    @Test func `a cancelled upload fails its message, which can be sent again (K33, K37)`()
        async throws
    {
        let fixture = try TransferFixture()
        let ana = try await fixture.client("ana")
        let conversation = try await ana.newConversation(with: ["bo"]).id
        fixture.proxy.throttle(200_000)
        ana.connect()
        let message = try await ana.send(
            [.file(try fixture.file(2_000_000).url, mimeType: "a/b")], to: conversation)
        let upload = try #require(ana.transfer(of: message.parts[0].id))
        try await eventually("it has begun") { upload.progress.completed > 0 }
        upload.cancel()
        #expect(upload.progress.isCancelled && upload.progress.isFinished)
        await #expect(throws: ParleyError.self) { try await upload.wait() }
        try await eventually("the message has failed") {
            guard case .failed(let error)? = try await ana.message(message.id)?.delivery else {
                return false
            }
            return error.code == .cancelled
        }
        fixture.proxy.throttle(0)
        try await ana.retry(message.id)
        try await ana.waitUntilSent(message.id)

        fixture.proxy.throttle(200_000)
        let other = try await ana.send(
            [.file(try fixture.file(2_000_000, 2).url, mimeType: "a/b")], to: conversation)
        let discarded = try #require(ana.transfer(of: other.parts[0].id))
        try await ana.discard(other.id)
        await #expect(throws: ParleyError.self) { try await discarded.wait() }
        try await eventually("the file is gone") {
            try await ana.transferCenter.folder.files().complete.count == 1
        }
        await ana.close()
    }
}

/// A stream of pieces.
private actor PieceSource {
    private var pieces: [[UInt8]]

    init(_ pieces: [[UInt8]]) { self.pieces = pieces }

    func next() -> [UInt8]? { pieces.isEmpty ? nil : pieces.removeFirst() }
}
