internal import Blobs
internal import HTTP
internal import Locking

/// One content on its way to one client.
struct Delivery: Sendable {
    let content: StoredContent
    let ticket: DownloadTicket
    let file: BlobFile
    let settings: UploadSettings
    /// Seconds since 1970 UTC.
    let now: Int64
    let queue: WorkQueue

    func response(to request: Request) async throws(DownloadError) -> Response {
        // The file is what is sent, so its size is what is said.
        guard file.size == content.size else { throw .backend }
        let representation = Representation(
            size: content.size, tag: tag, modified: content.completedAtMilliseconds / 1000)
        switch representation.selection(for: request, at: now, limit: settings.maxRanges) {
        case .failed: throw .preconditionFailed
        case .notModified: return notModified
        case .unsatisfiable: throw .unsatisfiable(representation.unsatisfiedRange)
        case .whole: return try await digested(whole(request), request)
        case .parts(let ranges): return try await digested(partial(ranges, request), request)
        }
    }

    private var notModified: Response {
        var fields = ResponseFields()
        addValidators(to: &fields)
        return Response(.notModified, fields: fields)
    }

    private func digested(
        _ response: Response, _ request: Request
    ) async throws(DownloadError) -> Response {
        var response = response
        try await addContentDigest(to: &response, for: request)
        return response
    }

    private func whole(_ request: Request) -> Response {
        Response(.ok, fields: fields(for: request, mediaType), content: bytes(0..<content.size))
    }

    private func partial(_ ranges: [Range<Int64>], _ request: Request) -> Response {
        var generator = SystemRandomNumberGenerator()
        let partial = PartialContent(
            ranges, of: content.size, mediaType, using: &generator, slice: bytes)
        var fields = fields(for: request, partial.mediaType)
        if let place = partial.contentRange { fields.add("Content-Range", place) }
        return Response(.partialContent, fields: fields, content: partial.content)
    }

    private func bytes(_ range: Range<Int64>) -> Content {
        if range.isEmpty { return .none }
        return .file(
            BlobContent(file), offset: range.lowerBound, length: Int64(range.count))
    }
}

/// A blob as the transport wants it: a descriptor that stays open while somebody sends.
private final class BlobContent: FileContent {
    private let file: BlobFile

    init(_ file: BlobFile) { self.file = file }

    var descriptor: Int32 { file.descriptor.number }
}
