import FoundationEssentials
import TestSupport
import Testing

@testable import ParleyKit

@Suite struct TransferProgressTests {
    private static let part = MessagePart.ID(
        "layer:///messages/7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55/parts/0")

    private func transfer(_ total: Int64) throws -> Transfer {
        Transfer(
            try #require(Self.part), .download, TransferProgress(completed: 0, total: total), nil)
    }

    @Test func `an aggregate counts bytes, and ends with its last member (K46)`() {
        let one = TransferProgress(completed: 10, total: 30)
        let paused = TransferProgress(completed: 0, total: 10, isPaused: true)
        let done = TransferProgress(completed: 60, total: 60, isFinished: true)
        let empty = TransferProgress(completed: 0, total: 0, isFinished: true)
        let cancelled = TransferProgress(
            completed: 5, total: 10, isFinished: true, isCancelled: true)
        let all = TransferProgress.aggregate([one, paused, done, empty])
        #expect(all == TransferProgress(completed: 70, total: 100))
        #expect(all.fractionCompleted == 0.7)
        #expect(TransferProgress.aggregate([paused, done]).isPaused)
        #expect(!TransferProgress.aggregate([one, paused]).isPaused)
        #expect(TransferProgress.aggregate([done, cancelled]).isFinished)
        #expect(!TransferProgress.aggregate([done, cancelled]).isCancelled)
        #expect(TransferProgress.aggregate([cancelled]).isCancelled)
        #expect(TransferProgress.aggregate([empty]).fractionCompleted == 1)
        #expect(TransferProgress.aggregate([TransferProgress]()).isFinished)
    }

    @Test func `no size or number of transfers stops the process (K69)`() async throws {
        let largest = TransferProgress(completed: .max, total: .max)
        #expect(TransferProgress.aggregate([largest, largest]) == largest)
        let transfer = try transfer(.max)
        for completed in [.max, 0, .min, .max - 1] as [Int64] { transfer.report(completed) }
        #expect(transfer.progress.completed == .max - 1)
        var configuration = Configuration(
            server: URL(filePath: "/"), application: "", store: URL(filePath: "/"),
            developmentUser: "ana")
        (configuration.concurrentUploads, configuration.concurrentDownloads) = (.max, -1)
        #expect(configuration.concurrentUploads == 100)
        #expect(configuration.concurrentDownloads == 1)
    }

    @Test func `a restarted member lowers an aggregate, nothing else does (K46)`() async throws {
        let (first, second, empty) = (try transfer(100), try transfer(50), try transfer(0))
        let all = AggregateTransfer([first])
        all.add(second)
        all.add(empty)
        var updates = all.updates.makeAsyncIterator()
        first.report(40)
        second.report(10)
        #expect(all.progress.completed == 50)
        #expect(await updates.next()?.completed == 50)
        first.report(0)
        #expect(all.progress.completed == 10)
        first.finish(nil)
        empty.finish(nil)
        #expect(!all.progress.isFinished)
        second.cancel()
        #expect(all.progress == TransferProgress(completed: 110, total: 150, isFinished: true))
        await #expect(throws: ParleyError.self) { try await all.wait() }
    }

    @Test func `updates are few, and the last one always comes (K38)`() async throws {
        let transfer = try transfer(1_000_000)
        var updates = transfer.updates.makeAsyncIterator()
        let reports = Task {
            for completed in stride(from: Int64(0), to: 1_000_000, by: 100) {
                transfer.report(completed)
            }
            transfer.finish(nil)
        }
        var (count, last): (Int, TransferProgress?) = (0, nil)
        while let progress = await updates.next() { (count, last) = (count + 1, progress) }
        await reports.value
        #expect(count <= 102)
        #expect(last == TransferProgress(completed: 1_000_000, total: 1_000_000, isFinished: true))
        try await transfer.wait()
    }
}
