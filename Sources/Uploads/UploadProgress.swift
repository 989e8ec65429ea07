internal import Blobs
internal import Bytes
internal import HTTP
internal import JSON
internal import SystemSupport

/// The progress of an upload, as the messaging API reports it.
public struct UploadProgress: Sendable, Equatable {
    /// The stage of an upload.
    public enum Stage: Sendable, Equatable {
        /// No byte has arrived yet.
        case awaited
        /// Bytes have arrived; perhaps all of them are being checked.
        case arriving
        /// The content is complete.
        case complete
        /// The upload has failed or was cancelled.
        case failed
        /// The upload has expired.
        case expired
    }

    /// The stage.
    public let stage: Stage
    /// The owner of the upload.
    public let owner: UploadOwner
    /// Durable leading bytes; after a failure or expiry, how many there were.
    public let received: Int64
    /// The length of the content; `nil` while unknown.
    public let length: Int64?

    init(_ record: UploadRecord) {
        stage =
            switch record.state {
            case .created: .awaited
            case .receiving, .finalizing: .arriving
            case .complete: .complete
            case .failed, .cancelled: .failed
            case .expired: .expired
            }
        owner = record.owner
        received = record.offset
        length = record.length
    }
}

extension Uploads {
    /// The progress of a content, without interrupting its upload; `nil` for content that was never announced here,
    /// or whose record was deleted.
    ///
    /// - Throws: When the record could not be read (``UploadError/busy``, ``UploadError/backend``).
    public func progress(of contentID: String) async throws(UploadError) -> UploadProgress? {
        try await withUpload(of: contentID) { upload in
            UploadProgress(await upload.receivedStatus())
        }
    }

    /// Cancels the upload of a content that is not in use.
    ///
    /// - Returns: Its owner; `nil` if there is no such upload.
    /// - Throws: ``UploadError/gone`` for an upload that has ended, ``UploadError/inUse``, and as ``progress(of:)``.
    public func cancel(contentID: String) async throws(UploadError) -> UploadOwner? {
        try await withUpload(of: contentID) { upload async throws(UploadError) in
            try await upload.cancel()
            return await upload.record.owner
        }
    }

    private func withUpload<Value: Sendable>(
        of contentID: String, _ act: (Upload) async throws(UploadError) -> Value
    ) async throws(UploadError) -> Value? {
        guard let content = BlobName(contentID) else { return nil }
        let name: BlobName?
        do throws(StorageError) {
            name = try await engine.records.name(of: content)
        } catch {
            throw UploadError(error)
        }
        guard let name, let upload = try await checkOut(name) else { return nil }
        defer { checkIn(name) }
        return try await act(upload)
    }
}

/// Responses to requests that read the state of an upload without interrupting it (§3.8).
enum NeutralStatus {
    static func head(_ record: UploadRecord) throws(UploadError) -> Response {
        // For `HEAD`, content with a wrong digest never existed.
        if record.state == .failed && record.failure == .digest { throw .notFound }
        try requireAlive(record)
        var response = Response(.ok, content: .withheld)
        response.fields.add("Upload-Offset", "\(record.offset)")
        if let length = record.length { response.fields.add("Upload-Length", "\(length)") }
        response.fields.add("Upload-Complete", record.state == .complete ? "?1" : "?0")
        return response
    }

    static func get(_ record: UploadRecord) throws(UploadError) -> Response {
        try requireAlive(record)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("state", record.state.name)
            writer.member("offset", record.offset)
            writer.key("length")
            if let length = record.length { writer.integer(length) } else { writer.null() }
            writer.member("expires_at", ISO8601.wholeSeconds(record.expiresAt))
        }
        return Response(.ok, "application/json", writer.finish())
    }

    private static func requireAlive(_ record: UploadRecord) throws(UploadError) {
        if record.state.isGone { throw .gone }
    }
}

extension Uploads {
    /// Answers a request without a protocol: it reads the state of the upload or cancels it (§2, rule 8).
    func neutral(_ request: Request, _ name: BlobName) -> Answer {
        work(on: name, for: request, errorResponse: jsonErrors(request)) { upload, _ in
            await upload.neutralResponse(to: request)
        }
    }
}

extension Upload {
    fileprivate func neutralResponse(to request: Request) async -> Response {
        do throws(UploadError) {
            switch request.method {
            case .head: return try NeutralStatus.head(await receivedStatus())
            case .get: return try NeutralStatus.get(await receivedStatus())
            default:
                try await cancel()
                // A successful cancellation has its own status for uploads created in protocol A or through the API
                // (§5.10).
                let isQuiet = record.creation == .tus || record.creation == .ietf
                return Response(isQuiet ? .noContent : .clientClosedRequest)
            }
        } catch {
            return error.response(to: request, engine.settings)
        }
    }
}
