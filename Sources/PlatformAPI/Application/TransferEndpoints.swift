import Blobs
import HTTP
import ImportExport
import JSON
import Messaging
import MessagingStore
import MessagingWire
import SystemSupport
import Uploads

extension Endpoint {
    /// An application as lines, from one server to another (X10).
    static let moving = [
        Endpoint(
            .get, "/apps/{app}/export", "Gives everything of the application, line by line.",
            scope: .admin, needsDiskSpace: true, .head { call in try await call.exportLines() }
        ) { _ in
            Operation(
                "exportLines",
                query: [
                    Parameter(
                        "contents", .choice(ExportedContents.allCases.map(\.rawValue)),
                        "`none` leaves out the bytes of contents; otherwise they stand before what "
                            + "names them.")
                ],
                answers: [.lines("Lines, each a JSON object: the application, then its records.")],
                errors: [.requestInProgress],
                example: Example(query: [("contents", "inline")]))
        },
        Endpoint(
            .post, "/apps/{app}/import", "Takes such lines, and brings what is not there.",
            scope: .admin, needsDiskSpace: true,
            .pulled { call, body in try await call.importLines(of: body) }
        ) { _ in
            Operation(
                "importLines",
                body: JSONSchema.string.withDescription("What `GET /apps/{app}/export` gives."),
                bodyType: JSONLinesType.name,
                answers: [.ok(ImportSummaryJSON.schema, "All lines are durable.")],
                errors: [.quotaExceeded], example: Example(body: Sample.lines))
        },
    ]
}

/// What an export is to do about the bytes of contents.
enum ExportedContents: String, CaseIterable {
    /// They stand in it.
    case inline
    /// They are left out: an import finds them elsewhere.
    case none
}

extension Sample {
    /// An application with one user.
    fileprivate static let lines = """
        {"record":"application","format":1,"id":"\(application)","name":"shop",\
        "created_at":"2026-03-01T09:15:30.042Z","suspended":false}
        {"record":"user","user_id":"ana","standing":"told","version":1,"identity_type":"user",\
        "display_name":"Ana","suspended":false,"external_unread_count":0,\
        "created_at":"2026-03-01T09:15:30.042Z"}

        """
}

extension RequestContext {
    /// `GET /export` (X10): everything of the application as it is at one moment.
    ///
    /// It is written down before the first byte leaves, so nobody who reads slowly holds the database.
    func exportLines() async throws -> Reply {
        guard
            let wish = ExportedContents(
                rawValue: query["contents"] ?? ExportedContents.inline.rawValue)
        else { throw Rejection.invalid("contents", .contentChoice) }
        guard request.method != .head else { return Reply(.withheld, JSONLinesType.name) }
        let (api, id) = (api, request.id)
        let seat = try api.exports.seat(for: application, "An export of this application")
        let lines = try await api.withDiskSpace {
            try await ExportSnapshot(
                of: application, in: store, at: api.uploads.blobs, with: wish == .inline
            ) { try api.uploads.requireDiskSpace() }
        }
        let content = HTTP.Content.written { writer in
            defer { withExtendedLifetime(seat) {} }
            do {
                try await lines.forEachPiece(from: api.uploads.contents) { piece in
                    try await writer.write(piece)
                }
            } catch let error where !(error is ContentWriter.Closed || error is CancellationError) {
                // The status has left: that something is missing tells the broken connection.
                _ = api.onFault(error, id)
                throw error
            }
        }
        return Reply(content, JSONLinesType.name)
    }
}

extension RequestContext {
    /// `POST /import` (X10): lines are brought as they come, and durable when this answers.
    func importLines(of body: any RequestBody) async throws -> Reply {
        try JSONLinesType.require(request)
        let seat = try api.imports.seat(for: application, "An import into this application")
        defer { withExtendedLifetime(seat) {} }
        let tally = try await api.withDiskSpace {
            try await ImportJob(store, api.uploads, application).run(body)
        }
        var writer = JSONWriter()
        ImportSummaryJSON.write(tally, into: &writer)
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
    func run(_ body: any RequestBody) async throws -> ImportSummary {
        let (uploads, application) = (uploads, application)
        let arriving = ImportedContents(
            by: uploads.blobs, to: uploads.contents,
            requireSpace: { try uploads.requireDiskSpace() },
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
        return importer.summary
    }

    private func take(_ body: any RequestBody, _ importer: inout Importer) async throws {
        var lines = LineSplitter()
        var buffer = BodyBuffer(capacity: Self.piece)
        repeat {
            try await body.read(into: &buffer)
            lines.append(buffer.bytes)
            while let line = try lines.next() {
                try await importer.add(line, line: lines.number)
            }
        } while buffer.count > 0
        if let line = lines.last() { try await importer.add(line, line: lines.number) }
        try await importer.finish()
    }
}

/// The media type of lines that are JSON objects (X10).
enum JSONLinesType {
    /// The name exports come under; not registered, and what everybody says.
    static let name = "application/jsonl"

    /// Passes lines under one of their names, and a body without a type.
    ///
    /// - Throws: 415.
    static func require(_ request: Request) throws(APIError) {
        guard let text = request.fields["Content-Type"] else { return }
        let type = text.prefix { character in character != ";" }
            .filter { character in character != " " && character != "\t" }.lowercased()
        guard [name, "application/x-ndjson", "application/jsonlines"].contains(type) else {
            throw APIError(
                .invalidHeader, "Invalid Content-Type header; must be \(name)",
                data: .header("Content-Type"), status: 415)
        }
    }
}
