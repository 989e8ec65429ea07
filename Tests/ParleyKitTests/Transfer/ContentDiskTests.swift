import FoundationEssentials
import Messaging
import SystemSupport
import TestSupport
import Testing

@testable import ParleyKit

/// Which contents are on a device, with a real server.
@Suite(.timeLimit(.minutes(10))) struct ContentDiskTests {
    /// Sends files from ana to bo, and returns their parts as bo has them, in the order of sending.
    private func exchange(
        _ fixture: TransferFixture, _ bo: ParleyClient, _ files: [(size: Int, type: String)]
    ) async throws -> [ParleyKit.MessagePart] {
        let ana = try await fixture.client("ana")
        let conversation = try await ana.newConversation(with: ["bo"]).id
        ana.connect()
        var parts: [ParleyKit.MessagePart.ID] = []
        for (number, file) in files.enumerated() {
            let url = try fixture.file(file.size, UInt64(number + 1)).url
            let message = try await ana.send([.file(url, mimeType: file.type)], to: conversation)
            parts.append(message.parts[0].id)
            try await ana.waitUntilSent(message.id)
        }
        await ana.close()
        _ = try await bo.lastPart(in: conversation, files.count)
        var found: [ParleyKit.MessagePart] = []
        for part in parts { found += try await bo.parts(of: part.message) }
        return found
    }

    private func status(_ client: ParleyClient, _ part: ParleyKit.MessagePart) async throws
        -> ParleyKit.TransferStatus?
    {
        try await client.parts(of: part.message).first?.transferStatus
    }

    @Test func `contents are downloaded by size and type, and by a new rule (K42)`() async throws {
        let fixture = try TransferFixture()
        let bo = try await fixture.client("bo") { configuration in
            configuration.autoDownload = AutoDownload(
                maximumSize: 50_000, types: ["IMAGE/*", "a/b"])
        }
        bo.connect()
        let parts = try await exchange(
            fixture, bo,
            [
                (50_000, "video/mp4"), (50_001, "video/mp4"), (90_000, "image/png"),
                (90_000, "A/B; x=y"), (90_000, "a/bc"),
            ])
        let wanted = [true, false, true, true, false]
        try await eventually("the wanted ones are here") {
            for (part, isWanted) in zip(parts, wanted) where isWanted {
                guard try await status(bo, part) == .complete else { return false }
            }
            return true
        }
        for (part, isWanted) in zip(parts, wanted) where !isWanted {
            #expect(try await status(bo, part) == .readyForDownload)
        }
        try await bo.purge(parts[0].id)
        await #expect(throws: ParleyError.self) { try await bo.purge(parts[0].id) }
        try await bo.setAutoDownload(.everything)
        try await eventually("all that were never here are here") {
            for part in parts.dropFirst() {
                guard try await status(bo, part) == .complete else { return false }
            }
            return true
        }
        #expect(try await status(bo, parts[0]) == .readyForDownload)
        try await bo.download(parts[0].id).wait()
        #expect(try await status(bo, parts[0]) == .complete)
        await bo.close()
    }

    @Test func `the newest contents come first (K42)`() async throws {
        let fixture = try TransferFixture()
        let bo = try await fixture.client("bo") { configuration in
            configuration.concurrentDownloads = 1
        }
        bo.connect()
        let parts = try await exchange(
            fixture, bo, Array(repeating: (300_000, "a/b"), count: 4))
        await bo.disconnect()
        var begun = bo.transfers.makeAsyncIterator()
        try await bo.setAutoDownload(.everything)
        bo.connect()
        var order: [ParleyKit.MessagePart.ID] = []
        while order.count < 4, let transfer = await begun.next() { order.append(transfer.part) }
        #expect(order == parts.reversed().map(\.id))
        await bo.close()
    }

    @Test func `what was sent is evicted too, then or when the store is opened (K40, K47)`()
        async throws
    {
        let fixture = try TransferFixture()
        var ana = try await fixture.client("ana") { $0.diskCapacity = 200_000 }
        let conversation = try await ana.newConversation(with: ["bo"]).id
        ana.connect()
        for number in 1...3 {
            let file = try fixture.file(90_000, UInt64(number)).url
            let message = try await ana.send([.file(file, mimeType: "a/b")], to: conversation)
            try await ana.waitUntilSent(message.id)
        }
        let client = ana
        try await eventually("one was evicted", within: .seconds(20)) {
            try await client.diskUtilization == 90_000
        }
        await ana.close()
        ana = try await fixture.client("ana") { $0.diskCapacity = 10_000 }
        #expect(try await ana.diskUtilization == 0)
        await ana.close()
    }

    @Test func `the least recently read contents are evicted, pinned ones never (K47)`()
        async throws
    {
        let fixture = try TransferFixture()
        let bo = try await fixture.client("bo")
        bo.connect()
        let parts = try await exchange(
            fixture, bo, Array(repeating: (100_000, "a/b"), count: 5))
        for part in parts { try await bo.download(part.id).wait() }
        #expect(try await bo.diskUtilization == 500_000)
        for (minute, part) in parts.enumerated() {
            try await bo.store.write { transaction in
                try transaction.noteAccess(
                    to: part.id, now: Timestamp(milliseconds: Int64(minute) * 60_000))
            }
        }
        // Reading the second one makes it the newest, and pins it.
        let pinned = try await bo.content(of: parts[1].id)
        let oldest = try #require(try await bo.content(of: parts[0].id))
        try await bo.store.write { transaction in
            try transaction.noteAccess(to: parts[0].id, now: Timestamp(milliseconds: 0))
        }
        let unsent = try await bo.newConversation(with: ["cy"]).id
        await bo.disconnect()
        try await bo.send([.file(fixture.file(400_000, 9).url, mimeType: "a/b")], to: unsent)
        #expect(try await bo.diskUtilization == 500_000)
        try await bo.setDiskCapacity(400_000)
        #expect(try await bo.diskUtilization == 300_000)
        let statuses = try await here(bo, parts)
        #expect(statuses == [true, true, false, false, true])
        #expect(try await oldest.data().count == 100_000)
        try await bo.setDiskCapacity(100_000)
        #expect(try await here(bo, parts) == [true, true, false, false, false])
        #expect(pinned?.size == oldest.size)
        await bo.close()
    }

    @Test func `a running download is not evicted, however often the capacity is set (K47)`()
        async throws
    {
        let fixture = try TransferFixture()
        let bo = try await fixture.client("bo")
        bo.connect()
        let parts = try await exchange(fixture, bo, [(100_000, "a/b"), (1_500_000, "a/b")])
        try await bo.download(parts[0].id).wait()
        fixture.proxy.throttle(250_000)
        let running = try await bo.download(parts[1].id)
        try await eventually("the download runs") { running.progress.completed > 0 }
        for capacity in [60_000, 50_000] as [Int64] { try await bo.setDiskCapacity(capacity) }
        #expect(try await here(bo, parts) == [false, false])
        #expect(try await status(bo, parts[1]) == .downloading)
        try await bo.setDiskCapacity(10_000_000)
        fixture.proxy.throttle(0)
        try await running.wait()
        #expect(try await bo.bytes(of: parts[1].id) == fixture.file(1_500_000, 2).bytes)
        // Complete and no longer in use, it is evicted like others.
        try await bo.setDiskCapacity(1_000_000)
        #expect(try await bo.diskUtilization == 0)
        await bo.close()
    }

    private func here(_ client: ParleyClient, _ parts: [ParleyKit.MessagePart]) async throws
        -> [Bool]
    {
        var here: [Bool] = []
        for part in parts { here.append(try await status(client, part) == .complete) }
        return here
    }

    @Test func `missing and needless files are found at opening (K49)`() async throws {
        let fixture = try TransferFixture()
        var bo = try await fixture.client("bo")
        bo.connect()
        let parts = try await exchange(
            fixture, bo, Array(repeating: (100_000, "a/b"), count: 3))
        for part in parts { try await bo.download(part.id).wait() }
        var paths: [String] = []
        for part in parts {
            paths.append(try #require(try await bo.content(of: part.id)?.fileURL?.path))
        }
        await bo.disconnect()
        let conversation = try #require(try await bo.message(parts[0].id.message)?.conversation)
        let message = try await bo.send(
            [.file(fixture.file(90_000, 9).url, mimeType: "a/b")], to: conversation)
        let unsent = try #require(try await bo.content(of: message.parts[0].id)?.fileURL?.path)
        await bo.close()
        try FileManager.default.removeItem(atPath: paths[0])
        try Data([1, 2, 3]).write(to: URL(filePath: paths[1]))
        try FileManager.default.removeItem(atPath: unsent)
        let needless =
            paths[2].split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/00"
            + (paths[2].split(separator: "/").last ?? "")
        try Data([1]).write(to: URL(filePath: needless))

        bo = try await fixture.client("bo")
        #expect(try await here(bo, parts) == [false, false, true])
        #expect(!FileManager.default.fileExists(atPath: needless))
        #expect(!FileManager.default.fileExists(atPath: paths[1]))
        guard case .failed(let error)? = try await bo.message(message.id)?.delivery else {
            Issue.record("the message has not failed")
            return
        }
        #expect(error.code == .contentMissing)
        bo.connect()
        try await bo.download(parts[1].id).wait()
        #expect(try await here(bo, parts) == [false, true, true])
        await bo.close()
    }

    @Test func `downloads wait while the disk is nearly full (K48)`() async throws {
        let fixture = try TransferFixture()
        let bo = try await fixture.client("bo") { $0.minimumFreeSpace = .max }
        bo.connect()
        var failures = bo.failures.makeAsyncIterator()
        let part = try await exchange(fixture, bo, [(100_000, "a/b")])[0]
        let transfer = try await bo.download(part.id)
        #expect(await failures.next()?.error.code == .diskFull)
        #expect(!transfer.progress.isFinished)
        #expect(try await status(bo, part) == .readyForDownload)
        await bo.close()
    }

    @Test func `expired URLs, whole answers to ranges and wrong digests are overcome (K43)`()
        async throws
    {
        let fixture = try TransferFixture()
        let script = Locked<[Disturbance]>([])
        let base = try openTransport(
            fixture.server.configuration("bo", through: fixture.proxy.port))
        let transport = AlteringTransport(base: base) { request in
            switch script.withLock({ script in script.first }) {
            case .expire:
                script.withLock { script in _ = script.removeFirst() }
                return 403
            case .wholeAnswer:
                script.withLock { script in _ = script.removeFirst() }
                request.headers.removeAll { $0.name == "Range" || $0.name == "If-Range" }
                return nil
            case .wrongDigest, nil: return nil
            }
        } digest: {
            script.withLock { script in
                guard script.first == .wrongDigest else { return nil }
                script.removeFirst()
                return "sha-256=:AQI=:"
            }
        }
        let bo = try await fixture.client("bo", transport)
        bo.connect()
        let parts = try await exchange(
            fixture, bo, Array(repeating: (2_000_000, "a/b"), count: 3))

        // The URL expires before a byte, and again after a cut; then a range is answered with everything.
        script.withLock { script in script = [.expire] }
        try await kicking(bo) { try await bo.download(parts[0].id).wait() }
        #expect(try await status(bo, parts[0]) == .complete)

        fixture.proxy.throttle(200_000)
        let cut = try await bo.download(parts[1].id)
        try await eventually("a part is here") { cut.progress.completed > 100_000 }
        script.withLock { script in script = [.expire, .wholeAnswer] }
        fixture.proxy.cut()
        fixture.proxy.throttle(0)
        try await kicking(bo) { try await cut.wait() }
        #expect(script.withLock { script in script.isEmpty })
        #expect(try await bo.bytes(of: parts[1].id) == fixture.file(2_000_000, 2).bytes)

        // One wrong digest is overcome, two are not.
        script.withLock { script in script = [.wrongDigest] }
        try await bo.download(parts[2].id).wait()
        #expect(try await bo.bytes(of: parts[2].id) == fixture.file(2_000_000, 3).bytes)
        try await bo.purge(parts[2].id)
        script.withLock { script in script = [.wrongDigest, .wrongDigest] }
        let failed = try await bo.download(parts[2].id)
        await #expect(throws: ParleyError.contentCorrupt) { try await failed.wait() }
        #expect(try await status(bo, parts[2]) == .readyForDownload)
        await bo.close()
    }

    private enum Disturbance {
        case expire, wholeAnswer, wrongDigest
    }
}
