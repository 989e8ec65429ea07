import Bytes
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import ParleyKit

/// Clients in processes of their own, which end in the middle of a transfer; and large files.
@Suite(.timeLimit(.minutes(10))) struct KilledClientTests {
    @Test func `a killed client goes on where it was (K39)`() async throws {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let file = try fixture.file(6_000_000)
        let message = try await ana.send([.file(file.url, mimeType: "a/b")], to: conversation)
        let part = message.parts[0].id
        await ana.close()

        fixture.proxy.throttle(6_000_000)
        try await transferUntilKilled(ana, fixture)
        try await transferUntilKilled(ana, fixture)
        fixture.proxy.throttle(0)
        var before = try await settledBytes(fixture)
        let again = try await fixture.client("ana")
        let upload = try #require(again.transfer(of: part))
        #expect(upload.progress.completed > 0, "the second process has not asked for the offset")
        again.connect()
        try await upload.wait()
        try await again.waitUntilSent(message.id)
        await again.close()
        #expect(fixture.proxy.forwarded - before < 5_500_000, "bytes were sent again")

        bo.connect()
        _ = try await bo.lastPart(in: conversation)
        await bo.disconnect()
        let asked = try await bo.download(part)
        #expect(!asked.progress.isFinished)
        await bo.close()
        fixture.proxy.throttle(1_500_000)
        try await transferUntilKilled(bo, fixture)
        fixture.proxy.throttle(0)
        before = try await settledBytes(fixture)
        let last = try await fixture.client("bo")
        let download = try #require(last.transfer(of: part))
        #expect(download.progress.completed > 1_000_000)
        last.connect()
        try await download.wait()
        #expect(try await last.bytes(of: part) == file.bytes)
        #expect(fixture.proxy.forwarded - before < 5_500_000, "bytes were received again")
        await last.close()
    }

    /// The number of forwarded bytes, once nothing of a killed client is on its way any more.
    private func settledBytes(_ fixture: TransferFixture) async throws -> Int {
        var bytes = -1
        while bytes != fixture.proxy.forwarded {
            bytes = fixture.proxy.forwarded
            try await Task.sleep(for: .milliseconds(400))
        }
        return bytes
    }

    /// Opens the store of a client in a process of its own, and kills it after some bytes were transferred, or if nothing
    /// is left to be.
    private func transferUntilKilled(
        _ client: ParleyClient, _ fixture: TransferFixture, after bytes: Int64 = 1_200_000
    ) async throws {
        let configuration = client.configuration
        guard case .development(let user) = configuration.credentials else { return }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                server = configuration.server.absoluteString as String,
                store = configuration.store.path as String, user = user.text as String,
                bytes = bytes as Int64
            ] in
            var configuration = Configuration(
                server: try #require(URL(string: server)), application: KitServer.application,
                store: URL(filePath: store), developmentUser: UserID(user))
            configuration.autoDownload = .nothing
            let client = try await openClient(configuration)
            let part = try await client.store.read { sql in
                try StoreTransaction(sql).openTransfers().first?.part
            }
            guard let transfer = part.flatMap({ client.transfer(of: $0) }) else {
                kill(getpid(), SIGKILL)
                return
            }
            let start = transfer.progress.completed
            client.connect()
            try await kicking(client) {
                while transfer.progress.completed < start + bytes, !transfer.progress.isFinished {
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            kill(getpid(), SIGKILL)
        }
    }

    @Test func `a file arrives although client, server and network end again and again (K38, K39)`()
        async throws
    {
        let megabytes = TestRounds.number(20, of: 300)
        let rounds = TestRounds.number(3, of: 10)
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let (url, digest) = try file(megabytes, in: fixture)
        let message = try await ana.send([.file(url, mimeType: "a/b")], to: conversation)
        let part = message.parts[0].id
        await ana.close()
        try await transferInRounds(rounds, megabytes, of: ana, fixture)
        let sender = try await fixture.client("ana")
        sender.connect()
        try await kicking(sender) { try await sender.waitUntilSent(message.id) }
        await sender.close()

        bo.connect()
        try await kicking(bo) { _ = try await bo.lastPart(in: conversation) }
        await bo.disconnect()
        _ = try await bo.download(part)
        await bo.close()
        try await transferInRounds(rounds, megabytes, of: bo, fixture)
        let receiver = try await fixture.client("bo")
        receiver.connect()
        try await kicking(receiver) { try await receiver.download(part).wait() }
        let content = try #require(try await receiver.content(of: part))
        #expect(try await self.digest(of: content) == digest)
        await receiver.close()
    }

    /// Transfers most of a file in several processes, while connections are cut and the server is killed.
    private func transferInRounds(
        _ rounds: Int, _ megabytes: Int, of client: ParleyClient, _ fixture: TransferFixture
    ) async throws {
        let step = megabytes * 1_000_000 / (rounds + 1)
        let before = fixture.proxy.forwarded
        // Half a second for each round, so that the client runs while the others end.
        fixture.proxy.throttle(2 * step)
        for _ in 0..<rounds {
            async let disturbances: Void = disturb(fixture)
            try await transferUntilKilled(client, fixture, after: Int64(step))
            try await disturbances
        }
        fixture.proxy.throttle(0)
        let forwarded = try await settledBytes(fixture) - before
        #expect(forwarded < megabytes * 1_500_000 + 8_000_000, "bytes were sent again")
    }

    private func disturb(_ fixture: TransferFixture) async throws {
        try await Task.sleep(for: .milliseconds(.random(in: 100...400)))
        fixture.proxy.cut()
        try await Task.sleep(for: .milliseconds(.random(in: 0...200)))
        fixture.server.kill()
        fixture.server.start()
    }

    @Test(.enabled(if: TestRounds.areAll))
    func `a file of 300 MB needs little memory`() async throws {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let (url, digest) = try file(300, in: fixture)
        // The peak is counted from here.
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = try residentPeak()
        ana.connect()
        bo.connect()
        let message = try await ana.send([.file(url, mimeType: "a/b")], to: conversation)
        try await ana.waitUntilSent(message.id)
        let part = try await bo.lastPart(in: conversation)
        try await bo.download(part.id).wait()
        let content = try #require(try await bo.content(of: part.id))
        #expect(try await self.digest(of: content) == digest)
        let after = try residentPeak()
        print("peak of resident memory: \(before) KiB before, \(after) KiB after both transfers")
        #expect(after - before < 64 << 10)
        for client in [ana, bo] { await client.close() }
    }

    /// A file of some megabytes, and its SHA-256.
    private func file(
        _ megabytes: Int, in fixture: TransferFixture
    ) throws -> (url: URL, digest: [UInt8]) {
        let url = URL(filePath: "\(fixture.folder.path)/large.bin")
        var hash = SHA256()
        let handle = try #require(fopen(url.path, "w"))
        defer { fclose(handle) }
        for number in 0..<megabytes {
            var piece = patternBytes(1_000_000)
            piece[0] = UInt8(truncatingIfNeeded: number)
            piece[1] = UInt8(truncatingIfNeeded: number >> 8)
            hash.update(piece.span)
            #expect(fwrite(piece, 1, piece.count, handle) == piece.count)
        }
        return (url, hash.digest)
    }

    /// The SHA-256 of a content, which is read in pieces.
    private func digest(of content: Content) async throws -> [UInt8] {
        var hash = SHA256()
        var position: Int64 = 0
        while position < content.size {
            let piece = try await content.read(position..<position + 1_000_000)
            hash.update(piece.span)
            position += Int64(piece.count)
        }
        return hash.digest
    }

    /// The peak of the resident memory of this process in KiB.
    private func residentPeak() throws -> Int {
        let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let words = try #require(line).split { $0 == " " || $0 == "\t" }
        return try #require(Int(words[1]))
    }
}
