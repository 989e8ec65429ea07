internal import Blobs
internal import HTTP
internal import SystemSupport

extension Uploads {
    /// Answers a request of protocol C to an upload (§7.6–7.10).
    func interop(_ request: Request, _ version: InteropVersion, _ name: BlobName) -> Answer {
        let responses = responses(version, request)
        let reading = Result { () throws(UploadError) in try InteropRequest(request, version) }
        let exchange = InteropExchange(
            responses: responses, url: base.of(request) + request.target.path,
            interim: interim(request, version))
        return work(on: name, for: request, errorResponse: { responses.response($0) }) {
            upload, body in
            await upload.interopResponse(to: reading, exchange, body)
        }
    }

    /// Answers a request of protocol C to the creation endpoint (§7.6).
    func interopCreation(
        _ request: Request, _ version: InteropVersion, by authorizer: any UploadAuthorizer
    ) -> Answer {
        let responses = responses(version, request)
        guard [.post, .put].contains(request.method) else {
            return refused(responses.response(.creationMethod), request)
        }
        let interim = interim(request, version)
        return creation(for: request, by: authorizer, errorResponse: { responses.response($0) }) {
            [self] admission, body in
            do throws(UploadError) {
                let creation = try InteropCreation(request, version)
                let new = try await create(draft(creation, request, admission), as: .ietf)
                guard let upload = try await checkOut(new.name) else { throw .notFound }
                defer { checkIn(new.name) }
                return await upload.interopResponse(
                    to: creation,
                    InteropExchange(
                        responses: responses, url: base.of(request) + new.path, interim: interim),
                    body)
            } catch {
                return responses.response(error)
            }
        }
    }

    private func draft(
        _ creation: InteropCreation, _ request: Request, _ admission: UploadAuthorization
    ) -> UploadDraft {
        var draft = UploadDraft(
            owner: admission.owner, contentID: admission.contentID,
            mediaType: creation.append.mediaType, length: creation.append.total,
            fileName: creation.fileName, origin: Uploads.origin(request))
        draft.declared = creation.append.declared
        return draft
    }

    private func responses(_ version: InteropVersion, _ request: Request) -> InteropResponses {
        InteropResponses(version, to: request, engine.settings)
    }

    /// Whether `104` may be sent: to clients that name a version, over HTTP/1.1, and not through a proxy that might
    /// treat it as the final response (§7.5).
    private func interim(_ request: Request, _ version: InteropVersion) -> Bool {
        guard version.named != nil, !request.isHTTP10 else { return false }
        return switch engine.settings.interim104 {
        case .on: true
        case .off: false
        case .auto: !request.isProxied
        }
    }
}

/// A data request of protocol C while it is processed.
struct InteropExchange: Sendable {
    fileprivate let responses: InteropResponses
    /// The URL of the upload.
    fileprivate let url: String
    /// Whether `104` may be sent.
    fileprivate let interim: Bool

    /// Sends `104` (§7.5): once where to resume a creation, and then the progress, after enough durable bytes and
    /// at most once a second.
    func observer(
        isCreation: Bool, _ body: any RequestBody, _ engine: UploadEngine
    ) -> AppendRequest.Observer? {
        guard interim else { return nil }
        let reported = Locked((offset: Int64(0), at: engine.clock.now()))
        let (responses, url, clock) = (responses, url, engine.clock)
        let spacing = engine.settings.progress104Bytes
        return AppendRequest.Observer(
            began: { record in
                reported.withLock { $0.offset = record.offset }
                guard isCreation else { return }
                body.sendInterim(responses.announcement(record, at: url, now: clock.now()))
            },
            committed: { offset in
                guard responses.version.reportsProgress else { return }
                let now = clock.now()
                let isDue = reported.withLock { reported in
                    guard offset - reported.offset >= spacing, now - reported.at >= 1000 else {
                        return false
                    }
                    reported = (offset, now)
                    return true
                }
                if isDue { body.sendInterim(responses.progress(offset)) }
            })
    }
}

extension Upload {
    /// Carries out a request of protocol C and returns its response.
    func interopResponse(
        to reading: Result<InteropRequest, UploadError>, _ exchange: InteropExchange,
        _ body: any RequestBody
    ) async -> Response {
        let responses = exchange.responses
        do throws(UploadError) {
            if turn.isStopping { throw .stalled }
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
                    return responses.status(record, now: engine.clock.now())
                case .cancel:
                    try await cancel()
                    return responses.cancelled
                }
            }
        } catch {
            return responses.response(error)
        }
    }

    /// Appends the body of a creation, from the first byte on (§7.6).
    func interopResponse(
        to creation: InteropCreation, _ exchange: InteropExchange, _ body: any RequestBody
    ) async -> Response {
        let responses = exchange.responses
        do throws(UploadError) {
            var append = creation.append
            append.observer = exchange.observer(isCreation: true, body, engine)
            switch try await self.append(append, from: body) {
            case .held, .misplaced:
                return responses.part(
                    record, at: exchange.url, isCreation: true, now: engine.clock.now())
            case .complete(let answer), .completeBefore(let answer):
                return responses.whole(answer, at: exchange.url)
            case .dropped: return .dropped
            }
        } catch {
            return responses.response(toData: error)
        }
    }

    /// `PATCH` (§7.8, §7.10).
    private func interop(
        _ append: AppendRequest, _ exchange: InteropExchange, _ body: any RequestBody
    ) async -> Response {
        do throws(UploadError) {
            return try await appended(append, exchange, body)
        } catch {
            return exchange.responses.response(toData: error)
        }
    }

    private func appended(
        _ append: AppendRequest, _ exchange: InteropExchange, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        let responses = exchange.responses
        if responses.version.rules >= 8, isRepeatedEnd(append), record.failure == .digest {
            throw .contentMismatch
        }
        var append = append
        append.observer = exchange.observer(isCreation: false, body, engine)
        switch try await self.append(append, from: body) {
        case .held:
            return responses.part(
                record, at: exchange.url, isCreation: false, now: engine.clock.now())
        case .misplaced(let held): return responses.mismatch(held: held, provided: append.first)
        case .complete(let answer): return responses.whole(answer, at: exchange.url)
        case .completeBefore(let answer):
            if responses.version.rules < 8 { return responses.completed }
            guard append.first == answer.size else {
                return responses.mismatch(held: answer.size, provided: append.first)
            }
            guard append.bodyLength == 0 else { throw .beyondLength }
            return responses.whole(answer, at: exchange.url)
        case .dropped: return .dropped
        }
    }

    /// Whether this is the empty append that requests the final response once more.
    private func isRepeatedEnd(_ append: AppendRequest) -> Bool {
        append.bodyLength == 0 && append.first == record.length
    }

    /// Whether the upload has ended without content or has expired.
    private var hasNoFuture: Bool {
        isExpired || record.state.isTerminal && record.state != .complete
    }
}
