internal import Blobs
internal import HTTP

extension Uploads {
    /// Answers a request of tus to an upload (§6).
    ///
    /// - Parameter method: The method after a method override.
    func tus(_ request: Request, _ method: HTTP.Method, _ name: BlobName) -> Answer {
        if let refusal = TusProtocol.refusal(of: request, engine.settings) {
            return refused(refusal, request)
        }
        let errorResponse = tusErrors
        switch method {
        case .get: return neutral(request, name)
        case .head:
            return work(on: name, for: request, errorResponse: errorResponse) { upload, _ in
                await upload.tusAnswer { () async throws(UploadError) in
                    try TusProtocol.status(await upload.settledStatus())
                }
            }
        case .patch:
            let reading = Result { () throws(UploadError) in try TusAppend(request) }
            return work(on: name, for: request, errorResponse: errorResponse) { upload, body in
                await upload.tusAnswer { () async throws(UploadError) in
                    try await upload.patch(reading, body)
                }
            }
        case .delete:
            return work(on: name, for: request, errorResponse: errorResponse) { upload, _ in
                await upload.tusAnswer { () async throws(UploadError) in
                    try await upload.cancel()
                    return TusProtocol.answer(.noContent)
                }
            }
        default:
            return refused(
                errorResponse(
                    .methodNotAllowed(
                        allow: "GET, HEAD, PATCH, DELETE, OPTIONS",
                        text:
                            "tus sends bytes with PATCH, or with POST and X-HTTP-Method-Override: PATCH; use that, or leave Tus-Resumable out."
                    )), request)
        }
    }
}

extension Uploads {
    /// Makes the error response of tus.
    var tusErrors: @Sendable (UploadError) -> Response {
        let settings = engine.settings
        return { error in TusProtocol.response(to: error, settings) }
    }
}

extension Upload {
    /// Runs a request and turns its error into a response of tus.
    fileprivate func tusAnswer(
        _ act: () async throws(UploadError) -> Response
    ) async -> Response {
        do throws(UploadError) {
            return try await act()
        } catch {
            return TusProtocol.response(to: error, engine.settings)
        }
    }

    /// Appends, checking conditions in the order of §6.5.
    fileprivate func patch(
        _ reading: Result<TusAppend, UploadError>, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        if turn.isStopping { throw .stalled }
        if status.state.isGone { throw .gone }
        let request = try reading.get()
        if record.tus.isFinal { throw .concatenated }
        let append = try request.append()
        switch try await self.append(append, from: body) {
        case .held, .complete: return TusProtocol.accepted(record)
        case .misplaced(let offset): return TusProtocol.misplaced(offset)
        case .completeBefore(let answer):
            return try await repeated(append, length: answer.size, body)
        case .dropped: return .dropped
        }
    }

    /// A request to an upload that was already complete: accepted only if it repeats the end.
    private func repeated(
        _ append: AppendRequest, length: Int64, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        guard append.first == length else { return TusProtocol.misplaced(length) }
        try append.check(against: record, limit: engine.settings.maxUploadSize)
        guard await body.isEmpty else { throw .beyondLength }
        return TusProtocol.accepted(record)
    }
}
