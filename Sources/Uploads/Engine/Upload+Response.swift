internal import HTTP

extension Upload {
    /// Does what a request asks for and answers in its dialect's words.
    func response(to action: UploadAction, _ body: any RequestBody) async -> Response {
        do throws(UploadError) {
            switch action {
            case .data(let request): return try await data(request, body)
            case .head: return try NeutralStatus.head(status)
            case .get: return try NeutralStatus.get(status)
            case .delete:
                try await cancel()
                // Success has a status of its own in the dialects of the content endpoint (§5.10).
                let isQuiet = record.creation == .tus || record.creation == .ietf
                return Response(isQuiet ? .noContent : .clientClosedRequest)
            case .options: return Response(.noContent)
            }
        } catch {
            return error.response
        }
    }

    private func data(
        _ reading: Result<DataRequest, UploadError>, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        if isStopping { throw .stalled }
        let request: DataRequest
        do throws(UploadError) {
            request = try reading.get()
        } catch {
            guard record.state.isTerminal || isExpired else { throw error }
            return try await end().response(wantsNo308: false)
        }
        let outcome: AppendOutcome
        switch request.action {
        case .append(let append):
            outcome = try await self.append(append, from: body)
        case .query(let total):
            try await requireEmpty(body)
            outcome = try await query(total: total)
        }
        return try outcome.response(wantsNo308: request.wantsNo308)
    }

    /// A chunked body shows only when read whether it is empty.
    private func requireEmpty(_ body: any RequestBody) async throws(UploadError) {
        guard body.length == nil else { return }
        var buffer = BodyBuffer(capacity: 1)
        guard await body.fill(&buffer) == .clean else {
            throw .invalid("A status query has no body.")
        }
    }

    /// Waits until nobody writes and nothing is being finished.
    func settleDown() async {
        // Nobody else waits once the server stops, so the turn comes or the deadline does.
        guard (try? await takeTurn()) != nil else { return }
        leaveTurn()
        if record.state == .finalizing && finalizing != nil { _ = await finish() }
    }
}
