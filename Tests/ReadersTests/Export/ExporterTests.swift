import Archives
import Blobs
import JSON
import Messaging
import MessagingStore
import TestSupport
import Testing

@testable import Readers

@Suite struct `Working on exports` {
    @Test func `restarts an export that a crash interrupted`() async throws {
        let depot = try await SampleApplication()
        _ = try await depot.conversation()
        let export = try await depot.store.requestExport(in: depot.application)
        // The state after kill -9: an executing export with a partial file.
        let begun = try await depot.store.startExport(export.id, in: depot.application)
        #expect(begun)
        let name = try #require(BlobName(export.id.uuid))
        let rest = try depot.blobs.stage(name)
        try rest.write([UInt8](repeating: 7, count: 100_000).span, at: 0)
        #expect(
            try await depot.store.export(export.id, in: depot.application).status == .executing)

        try await depot.exporter.work()
        let content = try await depot.content(of: export.id)
        #expect(content["conversations"]?.count == 1)
        #expect(try depot.blobs.stagedEntries().isEmpty)
    }

    @Test func `continues behind failing exports, and reports each once`() async throws {
        let depot = try await SampleApplication()
        // The key is invalid, so none of them can be created.
        for number in 0..<101 {
            let application = try await depot.store.createApplication(name: "\(number)").id
            try await depot.store.setExportKey(
                ExportKey(pem: "none", der: [1, 2, 3]), in: application)
            _ = try await depot.store.requestExport(in: application)
        }
        let last = try await depot.store.createApplication(name: "last").id
        let publicKey = try #require(PublicKey(pem: depot.key.pem))
        try await depot.store.setExportKey(
            ExportKey(pem: depot.key.pem, der: publicKey.der), in: last)
        let export = try await depot.store.requestExport(in: last)
        try await depot.exporter.work()
        #expect(depot.reported.count == 101)
        #expect(try depot.archive(export.id) != nil)
        let failing = try await depot.store.exportTasks()
        depot.wait(milliseconds: 60_001)
        try await depot.exporter.work()
        #expect(depot.reported.count == 202)
        #expect(try await depot.store.exportTasks() == failing)
        let first = try #require(failing.first)
        let kinds = try await depot.store.events(
            after: .start, limit: 100, in: first.application
        ).map(\.event)
        #expect(
            kinds.count { event in if case .exportStarted = event { true } else { false } } == 1)
    }

    @Test func `stops within a batch, and leaves no partial archive`() async throws {
        let depot = try await SampleApplication()
        let export = try await depot.store.requestExport(in: depot.application)
        let work = Task {
            withUnsafeCurrentTask { task in task?.cancel() }
            try await depot.exporter.work()
        }
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(try depot.archive(export.id) == nil)
        #expect(try depot.blobs.stagedEntries().isEmpty)
        #expect(depot.reported == [])
        try await depot.exporter.work()
        #expect(try depot.archive(export.id) != nil)
    }

    @Test func `runs in the background from start to stop`() async throws {
        let depot = try await SampleApplication()
        let export = try await depot.store.requestExport(in: depot.application)
        depot.exporter.start()
        while try await depot.store.export(export.id, in: depot.application).archive == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        await depot.exporter.stop()
        #expect(try depot.archive(export.id) != nil)
    }

    @Test func `removes the archive of a deleted export`() async throws {
        let depot = try await SampleApplication()
        let export = try await depot.store.requestExport(in: depot.application)
        try await depot.exporter.work()
        try await depot.store.deleteExport(export.id, in: depot.application)
        #expect(try depot.archive(export.id) != nil)
        #expect(try await depot.store.signedExport(export.id) == nil)
        try await depot.exporter.work()
        #expect(try depot.archive(export.id) == nil)
        #expect(try await depot.store.exportTasks().isEmpty)
        await #expect(throws: Rejection.notFound(.export)) {
            try await depot.store.deleteExport(export.id, in: depot.application)
        }
    }

    @Test func `removes an archive after a week and keeps the export in the list`() async throws {
        let depot = try await SampleApplication()
        let export = try await depot.store.requestExport(in: depot.application)
        try await depot.exporter.work()
        depot.wait(milliseconds: Export.lifetime - 1)
        try await depot.exporter.work()
        #expect(try depot.archive(export.id) != nil)
        depot.wait(milliseconds: 1)
        try await depot.exporter.work()
        #expect(try depot.archive(export.id) == nil)
        let expired = try await depot.store.export(export.id, in: depot.application)
        #expect(expired.expiredAt != nil)
        #expect(try await depot.store.signedExport(export.id) == nil)
        #expect(try await depot.store.exports(limit: 10, in: depot.application).total == 1)
    }

    @Test func `never creates an export that was deleted before its turn`() async throws {
        let depot = try await SampleApplication()
        let export = try await depot.store.requestExport(in: depot.application)
        try await depot.store.deleteExport(export.id, in: depot.application)
        try await depot.exporter.work()
        #expect(try depot.archive(export.id) == nil)
        #expect(try await depot.store.exportTasks().isEmpty)
    }
}
