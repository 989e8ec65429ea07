import Blobs
package import HTTP
import ImportExport
import JSON
package import Messaging
package import MessagingStore
import MessagingWire
import SystemSupport
import Uploads

extension Endpoint {
    /// Export and import of an application as JSON lines (X10).
    static let transfers = [
        Endpoint(
            .get, "/apps/{app}/export", "Exports the application as JSON lines.",
            scope: .admin, needsDiskSpace: true,
            .withoutBody { context in try await context.exportLines() }
        ) { _ in
            Operation(
                "exportLines",
                query: [
                    Parameter(
                        "contents", .choice(ExportedContents.allCases.map(\.rawValue)),
                        "`none` omits the bytes of contents; by default they precede the record that "
                            + "names the content.")
                ],
                answers: [.lines("Lines, each a JSON object: the application, then its records.")],
                errors: [.requestInProgress],
                example: Example(query: [("contents", "inline")]))
        },
        Endpoint(
            .post, "/apps/{app}/import",
            "Imports an application from JSON lines; existing records stay.",
            scope: .admin, needsDiskSpace: true,
            .streamedBody { context, body in try await context.importLines(of: body) }
        ) { _ in
            Operation(
                "importLines",
                body: JSONSchema.string.withDescription("The lines of `GET /apps/{app}/export`."),
                bodyType: JSONLinesType.name,
                answers: [.ok(ImportSummaryJSON.schema, "All lines are durable.")],
                errors: [.quotaExceeded], example: Example(body: Sample.lines))
        },
    ]
}

/// Whether an export holds the bytes of contents.
enum ExportedContents: String, CaseIterable {
    /// The export holds them.
    case inline
    /// The export omits them; an import needs them from another source.
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
    /// `GET /export` (X10): all of the application, consistent as of one moment.
    ///
    /// The export is written to disk before the first byte is sent, so that a slow client does not hold a database
    /// connection.
    func exportLines() async throws -> Reply {
        guard
            let contents = ExportedContents(
                rawValue: query["contents"] ?? ExportedContents.inline.rawValue)
        else { throw Rejection.invalid("contents", .contentChoice) }
        guard request.method != .head else { return Reply(.withheld, JSONLinesType.name) }
        let (api, id) = (api, request.id)
        let slot = try api.exports.slot(for: application, "An export of this application")
        let lines = try await api.snapshot(of: application, with: contents)
        let content = HTTP.Content.written { writer in
            defer { withExtendedLifetime(slot) {} }
            do {
                try await lines.forEachPiece(from: api.uploads.contents) { piece in
                    try await writer.write(piece)
                }
            } catch let error where !(error is ContentWriter.Closed || error is CancellationError) {
                // The status has been sent; aborting the connection shows the client that the export is incomplete.
                _ = api.onFault(error, id)
                throw error
            }
        }
        return Reply(content, JSONLinesType.name)
    }
}

extension RequestContext {
    /// `POST /import` (X10): lines are imported while they arrive, and durable when the answer is sent.
    func importLines(of body: any RequestBody) async throws -> Reply {
        try JSONLinesType.require(request)
        let slot = try api.imports.slot(for: application, "An import into this application")
        defer { withExtendedLifetime(slot) {} }
        return Reply(.ok, try await api.importLines(of: body, into: application, by: store))
    }
}

// What the endpoints and the jobs of the console share.
extension PlatformAPI {
    fileprivate func snapshot(
        of application: Application.ID, with contents: ExportedContents
    ) async throws -> ExportSnapshot {
        try await withDiskSpace {
            try await ExportSnapshot(
                of: application, in: store, at: uploads.blobs, with: contents == .inline
            ) { [uploads] in try uploads.requireDiskSpace() }
        }
    }

    /// Exports an application with the bytes of its contents, as `GET /apps/{app}/export` does.
    ///
    /// - Parameter take: Called with each piece, after it has taken the one before, and with the expected number of bytes
    ///   of all pieces.
    /// - Throws: 404, 507, and what `take` throws.
    package func exportLines(
        of application: Application.ID,
        _ take: @escaping @Sendable (_ piece: [UInt8], _ total: Int64) async throws -> Void
    ) async throws {
        let lines = try await snapshot(of: application, with: .inline)
        let total = lines.expectedSize
        try await withDiskSpace {
            try await lines.forEachPiece(from: uploads.contents) { piece in
                try await take(piece, total)
            }
        }
    }

    /// Imports lines into an application, as `POST /apps/{app}/import` does.
    ///
    /// - Returns: The number of records of each kind, as JSON.
    /// - Throws: 422 or 400 for an invalid line, 507, and the errors of the body.
    package func importLines(
        of body: any RequestBody, into application: Application.ID, by store: MessagingStore
    ) async throws -> [UInt8] {
        let summary = try await withDiskSpace {
            try await ImportJob(store, uploads, application).run(body)
        }
        var writer = JSONWriter()
        ImportSummaryJSON.write(summary, into: &writer)
        return writer.finish()
    }
}

/// One import; it parses lines, and hashes and writes contents, on its own thread.
private actor ImportJob {
    private let store: MessagingStore
    private let uploads: Uploads
    private let application: Application.ID
    private let executor = WorkExecutor("parley.import")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The actor holds the executor.
        unsafe executor.asUnownedSerialExecutor()
    }

    /// The most bytes of one read of the body.
    private static let readSize = 256 << 10

    init(_ store: MessagingStore, _ uploads: Uploads, _ application: Application.ID) {
        self.store = store
        self.uploads = uploads
        self.application = application
    }

    /// Imports all lines of a body. More bytes are read only when the lines before them are durable or in one of two
    /// small batches, so that memory is bounded.
    func run(_ body: any RequestBody) async throws -> ImportSummary {
        let (uploads, application) = (uploads, application)
        let contents = ImportedContents(
            by: uploads.blobs, to: uploads.contents,
            requireSpace: { try uploads.requireDiskSpace() },
            requireQuota: { bytes in
                try await uploads.requireQuota(of: application.uuid, for: bytes)
            })
        var importer = Importer(store, contents, only: application)
        do {
            try await addLines(of: body, to: &importer)
        } catch {
            // The first error is reported; repeating the import imports the rest.
            try? await importer.stop()
            throw error
        }
        return importer.summary
    }

    private func addLines(
        of body: any RequestBody, to importer: inout Importer
    ) async throws {
        var lines = LineSplitter()
        var buffer = BodyBuffer(capacity: Self.readSize)
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

/// The media type of JSON lines (X10).
enum JSONLinesType {
    /// The media type of exports; not registered, but common.
    static let name = "application/jsonl"

    /// Accepts the common names of the type, and a body without `Content-Type`.
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
