internal import Blobs
internal import HTTP
internal import JSON
internal import SystemSupport

/// How far a content has come that may never become one.
public struct UploadProgress: Sendable, Equatable {
    /// Where it stands.
    public enum Stage: Sendable, Equatable {
        /// No byte has come yet.
        case awaited
        /// Bytes have come, and perhaps all of them are being checked.
        case arriving
        /// It is a content.
        case complete
        /// It never will be: bytes that were wrong or were lost, or nobody wanted them any more.
        case failed
        /// Its time was up.
        case expired
    }

    /// Where it stands.
    public let stage: Stage
    /// For whom it was created.
    public let owner: UploadOwner
    /// Durable leading bytes; once it has failed or expired, how many there were.
    public let received: Int64
    /// Its length, once that is known.
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
    /// How far a content has come, without disturbing who sends it; `nil` for one that was never
    /// announced here, or whose end is forgotten.
    ///
    /// - Throws: When nobody could look (``UploadError/busy``, ``UploadError/backend``).
    public func progress(of contentID: String) async throws(UploadError) -> UploadProgress? {
        guard let content = BlobName(contentID) else { return nil }
        let name: BlobName?
        do throws(StorageError) {
            name = try await engine.records.name(of: content)
        } catch {
            throw UploadError(error)
        }
        guard let name, let upload = try await checkOut(name) else { return nil }
        defer { checkIn(name) }
        return UploadProgress(await upload.receivedStatus())
    }
}

/// Looking at an upload without disturbing it (§3.8).
enum NeutralStatus {
    static func head(_ record: UploadRecord) throws(UploadError) -> Response {
        // A content whose digest was wrong never existed, for `HEAD`.
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
            writer.member("expires_at", InternetTime.wholeSeconds(record.expiresAt))
        }
        return Response(.ok, "application/json", writer.finish())
    }

    private static func requireAlive(_ record: UploadRecord) throws(UploadError) {
        if record.state.isGone { throw .gone }
    }
}

extension Uploads {
    /// A request that speaks no protocol: a look at the upload, or its end (§2, rule 8).
    func neutral(_ request: Request, _ name: BlobName) -> Answer {
        let method = request.method
        return work(on: name, for: request, words: jsonErrors) { upload, _ in
            await upload.neutralResponse(to: method)
        }
    }
}

extension Upload {
    fileprivate func neutralResponse(to method: HTTP.Method) async -> Response {
        do throws(UploadError) {
            switch method {
            case .head: return try NeutralStatus.head(await receivedStatus())
            case .get: return try NeutralStatus.get(await receivedStatus())
            default:
                try await cancel()
                // Success has a status of its own in the dialects of the content endpoint (§5.10).
                let isQuiet = record.creation == .tus || record.creation == .ietf
                return Response(isQuiet ? .noContent : .clientClosedRequest)
            }
        } catch {
            return error.response(engine.settings)
        }
    }
}
