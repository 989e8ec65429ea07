internal import Blobs
internal import HTTP

extension Uploads {
    /// A request of dialect A or D to an upload (§5.2, §8).
    ///
    /// What is wrong with its fields counts only once it is known that there is such an upload and
    /// that it is still open (§3.2).
    func contentRange(_ request: Request, _ name: BlobName) -> Answer {
        let reading = Result { () throws(UploadError) in try ContentRangeRequest(request) }
        return work(on: name, for: request, words: jsonErrors) { upload, body in
            await upload.response(to: reading, body)
        }
    }
}

extension Upload {
    /// Does what a request of dialect A asks for, and answers in its words.
    fileprivate func response(
        to reading: Result<ContentRangeRequest, UploadError>, _ body: any RequestBody
    ) async -> Response {
        do throws(UploadError) {
            return try await data(reading, body)
        } catch {
            return error.response(engine.settings)
        }
    }

    private func data(
        _ reading: Result<ContentRangeRequest, UploadError>, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        if isStopping { throw .stalled }
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
    /// The answer in the words of dialect A (§5.4–5.7); dialect D never sees the first two.
    func response(wantsNo308: Bool) throws(UploadError) -> Response {
        switch self {
        case .complete(let answer), .completeBefore(let answer):
            return FinalResponse.response(answer)
        case .dropped: return .dropped
        case .misplaced where wantsNo308: throw .offsetMismatch
        case .held(let offset), .misplaced(let offset):
            // Never a Location: HTTP libraries would follow it and send the chunk again.
            var response = Response(wantsNo308 ? .ok : .resumeIncomplete)
            if wantsNo308 { response.fields.add("X-Http-Status-Code-Override", "308") }
            // With nothing held the field is left out: `0-0` would mean one byte.
            if offset > 0 { response.fields.add("Range", "bytes=0-\(offset - 1)") }
            return response
        }
    }
}
