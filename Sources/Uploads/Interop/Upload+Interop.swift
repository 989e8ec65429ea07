internal import HTTP

extension Upload {
    /// Does what a request of dialect C asks for, and answers in its words.
    func interopResponse(
        to reading: Result<InteropRequest, UploadError>, _ exchange: InteropExchange,
        _ body: any RequestBody
    ) async -> Response {
        let words = exchange.words
        do throws(UploadError) {
            if isStopping { throw .stalled }
            switch reading {
            case .failure(let error):
                if hasNoFuture { throw .gone }
                throw error
            case .success(let request):
                switch request.action {
                case .create(let creation):
                    return await interopResponse(to: creation, exchange, body)
                case .append(let append): return await interop(append, exchange, body)
                case .status:
                    let record = try await settledStatus()
                    if hasNoFuture { throw .gone }
                    return words.status(record, now: engine.clock.now())
                case .cancel:
                    try await cancel()
                    return words.cancelled
                }
            }
        } catch {
            return words.response(error)
        }
    }

    /// Takes the bytes of a creation, from the first one on (§7.6).
    func interopResponse(
        to creation: InteropCreation, _ exchange: InteropExchange, _ body: any RequestBody
    ) async -> Response {
        let words = exchange.words
        do throws(UploadError) {
            var append = creation.append
            append.watch = exchange.watch(isCreation: true, body, engine)
            switch try await self.append(append, from: body) {
            case .held, .misplaced:
                return words.part(
                    record, at: exchange.url, isCreation: true, now: engine.clock.now())
            case .complete(let answer), .completeBefore(let answer):
                return words.whole(answer, at: exchange.url)
            case .dropped: return .dropped
            }
        } catch {
            return words.response(toData: error)
        }
    }

    /// `PATCH` (§7.8, §7.10).
    private func interop(
        _ append: Append, _ exchange: InteropExchange, _ body: any RequestBody
    ) async -> Response {
        do throws(UploadError) {
            return try await appended(append, exchange, body)
        } catch {
            return exchange.words.response(toData: error)
        }
    }

    private func appended(
        _ append: Append, _ exchange: InteropExchange, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        let words = exchange.words
        if words.version.rules >= 8, isRepeatedEnd(append), record.failure == .digest {
            throw .contentMismatch
        }
        var append = append
        append.watch = exchange.watch(isCreation: false, body, engine)
        switch try await self.append(append, from: body) {
        case .held:
            return words.part(record, at: exchange.url, isCreation: false, now: engine.clock.now())
        case .misplaced(let held): return words.mismatch(held: held, provided: append.first)
        case .complete(let answer): return words.whole(answer, at: exchange.url)
        case .completeBefore(let answer):
            if words.version.rules < 8 { return words.completed }
            guard append.first == answer.size else {
                return words.mismatch(held: answer.size, provided: append.first)
            }
            guard append.bodyLength == 0 else { throw .beyondLength }
            return words.whole(answer, at: exchange.url)
        case .dropped: return .dropped
        }
    }

    /// The empty append that asks for a final answer once more.
    private func isRepeatedEnd(_ append: Append) -> Bool {
        append.bodyLength == 0 && append.first == record.length
    }

    /// Ended without a content, or about to.
    private var hasNoFuture: Bool {
        isExpired || record.state.isTerminal && record.state != .complete
    }
}
