internal import Blobs
internal import HTTP

extension Uploads {
    /// Answers a request of protocol A or D to an upload (§5.2, §8).
    ///
    /// Invalid headers are reported only when the upload exists and is open (§3.2).
    func contentRange(_ request: Request, _ name: BlobName) -> Answer {
        work(on: name, for: request, errorResponse: jsonErrors(request)) { upload, body in
            await upload.response(to: request, body)
        }
    }
}

extension Upload {
    /// Carries out a request of protocol A and returns its response.
    fileprivate func response(
        to request: Request, _ body: any RequestBody
    ) async -> Response {
        do throws(UploadError) {
            let reading = Result { () throws(UploadError) in try ContentRangeRequest(request) }
            return try await data(reading, body)
        } catch {
            return error.response(to: request, engine.settings)
        }
    }

    private func data(
        _ reading: Result<ContentRangeRequest, UploadError>, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        if turn.isStopping { throw .stalled }
        let request: ContentRangeRequest
        do throws(UploadError) {
            request = try reading.get()
        } catch {
            guard record.state.isTerminal || isExpired else { throw error }
            return FinalResponse.response(try await endedAnswer())
        }
        let outcome: AppendOutcome
        switch request.action {
        case .append(let append):
            outcome = try await self.append(append, from: body)
        case .query(let total):
            guard await body.isEmpty else { throw .queryWithBody }
            outcome = try await query(total: total)
        }
        return try outcome.response(wantsNo308: request.wantsNo308)
    }
}

extension AppendOutcome {
    /// The response in protocol A (§5.4–5.7); protocol D never has the first two outcomes.
    func response(wantsNo308: Bool) throws(UploadError) -> Response {
        switch self {
        case .complete(let answer), .completeBefore(let answer):
            return FinalResponse.response(answer)
        case .dropped: return .dropped
        case .misplaced where wantsNo308: throw .offsetMismatch
        case .held(let offset), .misplaced(let offset):
            // No Location: HTTP libraries would follow it and send the chunk again.
            var response = Response(wantsNo308 ? .ok : .resumeIncomplete)
            if wantsNo308 { response.fields.add("X-Http-Status-Code-Override", "308") }
            // At offset 0 the header is left out: `0-0` would mean one byte.
            if offset > 0 { response.fields.add("Range", "bytes=0-\(offset - 1)") }
            return response
        }
    }
}
