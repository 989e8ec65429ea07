import Blobs
import Bytes
import JSON
import Messaging
import MessagingStore
import TestSupport
import Testing

@testable import Readers

@Suite struct `The exporter` {
    @Test func `restarts an export that a crash interrupted`() async throws {
        let sample = try await SampleApplication()
        _ = try await sample.conversation()
        let export = try await sample.store.requestExport(in: sample.application)
        // The state after kill -9: an executing export with a partial file.
        let begun = try await sample.store.startExport(export.id, in: sample.application)
        #expect(begun)
        let name = try #require(BlobName(export.id.uuid))
        let rest = try sample.blobs.stage(name)
        try rest.write([UInt8](repeating: 7, count: 100_000).span, at: 0)
        #expect(
            try await sample.store.export(export.id, in: sample.application).status == .executing)

        try await sample.exporter.work()
        let content = try await sample.content(of: export.id)
        #expect(content["conversations"]?.count == 1)
        #expect(try sample.blobs.stagedEntries().isEmpty)
    }

    @Test func `continues behind failing exports, and reports each once`() async throws {
        let sample = try await SampleApplication()
        // The key is invalid, so none of them can be created.
        for number in 0..<101 {
            let application = try await sample.store.createApplication(name: "\(number)").id
            try await sample.store.setExportKey(
                ExportKey(pem: "none", der: [1, 2, 3]), in: application)
            _ = try await sample.store.requestExport(in: application)
        }
        let last = try await sample.store.createApplication(name: "last").id
        let publicKey = try #require(PublicKey(pem: sample.key.pem))
        try await sample.store.setExportKey(
            ExportKey(pem: sample.key.pem, der: publicKey.der), in: last)
        let export = try await sample.store.requestExport(in: last)
        try await sample.exporter.work()
        #expect(sample.reported.count == 101)
        #expect(try sample.archive(export.id) != nil)
        let failing = try await sample.store.exportTasks()
        sample.wait(milliseconds: 60_001)
        try await sample.exporter.work()
        #expect(sample.reported.count == 202)
        #expect(try await sample.store.exportTasks() == failing)
        let first = try #require(failing.first)
        let kinds = try await sample.store.events(
            after: .start, limit: 100, in: first.application
        ).map(\.event)
        #expect(
            kinds.count { event in if case .exportStarted = event { true } else { false } } == 1)
    }

    @Test func `stops within a batch, and leaves no partial archive`() async throws {
        let sample = try await SampleApplication()
        let export = try await sample.store.requestExport(in: sample.application)
        let work = Task {
            withUnsafeCurrentTask { task in task?.cancel() }
            try await sample.exporter.work()
        }
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(try sample.archive(export.id) == nil)
        #expect(try sample.blobs.stagedEntries().isEmpty)
        #expect(sample.reported == [])
        try await sample.exporter.work()
        #expect(try sample.archive(export.id) != nil)
    }

    @Test func `runs in the background from start to stop`() async throws {
        let sample = try await SampleApplication()
        let export = try await sample.store.requestExport(in: sample.application)
        sample.exporter.start()
        while try await sample.store.export(export.id, in: sample.application).archive == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        await sample.exporter.stop()
        #expect(try sample.archive(export.id) != nil)
    }

    @Test func `removes the archive of a deleted export`() async throws {
        let sample = try await SampleApplication()
        let export = try await sample.store.requestExport(in: sample.application)
        try await sample.exporter.work()
        try await sample.store.deleteExport(export.id, in: sample.application)
        #expect(try sample.archive(export.id) != nil)
        #expect(try await sample.store.signedExport(export.id) == nil)
        try await sample.exporter.work()
        #expect(try sample.archive(export.id) == nil)
        #expect(try await sample.store.exportTasks().isEmpty)
        await #expect(throws: Rejection.notFound(.export)) {
            try await sample.store.deleteExport(export.id, in: sample.application)
        }
    }

    @Test func `removes an archive after a week and keeps the export in the list`() async throws {
        let sample = try await SampleApplication()
        let export = try await sample.store.requestExport(in: sample.application)
        try await sample.exporter.work()
        sample.wait(milliseconds: Export.lifetime - 1)
        try await sample.exporter.work()
        #expect(try sample.archive(export.id) != nil)
        sample.wait(milliseconds: 1)
        try await sample.exporter.work()
        #expect(try sample.archive(export.id) == nil)
        let expired = try await sample.store.export(export.id, in: sample.application)
        #expect(expired.expiredAt != nil)
        #expect(try await sample.store.signedExport(export.id) == nil)
        #expect(try await sample.store.exports(limit: 10, in: sample.application).total == 1)
    }

    @Test func `never creates an export that was deleted before its turn`() async throws {
        let sample = try await SampleApplication()
        let export = try await sample.store.requestExport(in: sample.application)
        try await sample.store.deleteExport(export.id, in: sample.application)
        try await sample.exporter.work()
        #expect(try sample.archive(export.id) == nil)
        #expect(try await sample.store.exportTasks().isEmpty)
    }
}
