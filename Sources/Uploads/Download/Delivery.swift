internal import Blobs
internal import HTTP
internal import Locking

/// One content on its way to one client.
struct Delivery: Sendable {
    let content: StoredContent
    let ticket: DownloadTicket
    let source: OpenContent
    let settings: UploadSettings
    /// Seconds since 1970 UTC.
    let now: Int64

    func response(to request: Request) async throws(DownloadError) -> Response {
        if let elsewhere = redirection(of: request) { return elsewhere }
        // The file is what is sent, so its size is what is said.
        guard source.holds(content.size) else { throw .backend }
        let representation = Representation(
            size: content.size, tag: tag, modified: content.completedAtMilliseconds / 1000)
        switch representation.selection(for: request, at: now, limit: settings.maxRanges) {
        case .failed: throw .preconditionFailed
        case .notModified: return notModified
        case .unsatisfiable: throw .unsatisfiable(representation.unsatisfiedRange)
        case .whole: return try await whole(request)
        case .parts(let ranges): return try await partial(ranges, request)
        }
    }

    private var notModified: Response {
        var fields = ResponseFields()
        addValidators(to: &fields)
        return Response(.notModified, fields: fields)
    }

    private func whole(_ request: Request) async throws(DownloadError) -> Response {
        var fields = fields(for: request, mediaType)
        addContentDigest(to: &fields, for: request)
        var generator = SystemRandomNumberGenerator()
        let everything = PartialContent(
            [0..<content.size], of: content.size, mediaType, using: &generator)
        return Response(.ok, fields: fields, content: try await sent(everything, request))
    }

    private func partial(
        _ ranges: [Range<Int64>], _ request: Request
    ) async throws(DownloadError) -> Response {
        var generator = SystemRandomNumberGenerator()
        let partial = PartialContent(ranges, of: content.size, mediaType, using: &generator)
        var fields = fields(for: request, partial.mediaType)
        if let place = partial.contentRange { fields.add("Content-Range", place) }
        try await addContentDigest(of: partial, to: &fields, for: request)
        return Response(.partialContent, fields: fields, content: try await sent(partial, request))
    }
}
