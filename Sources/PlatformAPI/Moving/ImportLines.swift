import HTTP
import JSON
import Locking
import Messaging
import MessagingStore
import MessagingWire
import Moving
import Uploads

extension Call {
    /// `POST /import` (X10): lines are brought as they come, and durable when this answers.
    func importLines(of body: any RequestBody) async throws -> Reply {
        try LinesType.require(request)
        let seat = try api.imports.seat(for: application, "An import into this application")
        defer { withExtendedLifetime(seat) {} }
        let tally = try await api.withRoom {
            try await ImportJob(store, api.uploads, application).run(body)
        }
        var writer = JSONWriter()
        ImportJSON.write(tally, into: &writer)
        return Reply(.ok, writer.finish())
    }
}

/// One import: its lines are read, and its contents hashed and written, on a thread of its own.
private actor ImportJob {
    private let store: MessagingStore
    private let uploads: Uploads
    private let application: Application.ID
    private let executor = WorkExecutor("parley.import")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    private static let piece = 256 << 10

    init(_ store: MessagingStore, _ uploads: Uploads, _ application: Application.ID) {
        self.store = store
        self.uploads = uploads
        self.application = application
    }

    /// Brings all lines of a body; the next piece is received when those of the last are durable, or
    /// wait with a few others.
    func run(_ body: any RequestBody) async throws -> ImportTally {
        let (uploads, application) = (uploads, application)
        let arriving = ArrivingContents(
            by: uploads.blobs, to: uploads.contents,
            requireRoom: { try uploads.requireRoom() },
            requireQuota: { bytes in
                try await uploads.requireQuota(of: application.uuid, for: bytes)
            })
        var importer = Importer(store, arriving, only: application)
        do {
            try await take(body, &importer)
        } catch {
            // What is told is why it ended; repeating it brings the rest.
            try? await importer.stop()
            throw error
        }
        return importer.tally
    }

    private func take(_ body: any RequestBody, _ importer: inout Importer) async throws {
        var lines = LineCutter()
        var buffer = BodyBuffer(capacity: Self.piece)
        repeat {
            try await body.read(into: &buffer)
            lines.append(buffer.octets)
            while let line = try lines.next() {
                try await importer.take(line, line: lines.number)
            }
        } while buffer.count > 0
        if let line = lines.last() { try await importer.take(line, line: lines.number) }
        try await importer.finish()
    }
}
