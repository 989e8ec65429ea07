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

    /// Opens the store of a client in a process of its own, and kills it after a megabyte was transferred.
    private func transferUntilKilled(
        _ client: ParleyClient, _ fixture: TransferFixture
    ) async throws {
        let configuration = client.configuration
        guard case .development(let user) = configuration.credentials else { return }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                server = configuration.server.absoluteString as String,
                store = configuration.store.path as String, user = user.text as String
            ] in
            var configuration = Configuration(
                server: try #require(URL(string: server)), application: KitServer.application,
                store: URL(filePath: store), developmentUser: UserID(user))
            configuration.autoDownload = .nothing
            let client = try await openClient(configuration)
            let part = try await client.store.read { sql in
                try StoreTransaction(sql).openTransfers().first?.part
            }
            let transfer = try #require(part.flatMap { client.transfer(of: $0) })
            let start = transfer.progress.completed
            client.connect()
            while transfer.progress.completed < start + 1_200_000 {
                try await Task.sleep(for: .milliseconds(2))
            }
            kill(getpid(), SIGKILL)
        }
    }

    @Test(.enabled(if: TestRounds.areAll))
    func `a file of 300 MB needs little memory`() async throws {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let url = URL(filePath: "\(fixture.folder.path)/large.bin")
        var hash = SHA256()
        let handle = try #require(fopen(url.path, "w"))
        for number in 0..<300 {
            var piece = patternBytes(1_000_000)
            piece[0] = UInt8(truncatingIfNeeded: number)
            piece[1] = UInt8(truncatingIfNeeded: number >> 8)
            hash.update(piece.span)
            #expect(fwrite(piece, 1, piece.count, handle) == piece.count)
        }
        fclose(handle)
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
        var found = SHA256()
        var position: Int64 = 0
        while position < content.size {
            let piece = try await content.read(position..<position + 1_000_000)
            found.update(piece.span)
            position += Int64(piece.count)
        }
        #expect(found.digest == hash.digest)
        let after = try residentPeak()
        print("peak of resident memory: \(before) KiB before, \(after) KiB after both transfers")
        #expect(after - before < 64 << 10)
        for client in [ana, bo] { await client.close() }
    }

    /// The peak of the resident memory of this process in KiB.
    private func residentPeak() throws -> Int {
        let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let words = try #require(line).split { $0 == " " || $0 == "\t" }
        return try #require(Int(words[1]))
    }
}
