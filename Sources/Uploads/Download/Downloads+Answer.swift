internal import Blobs
public import HTTP
internal import Locking

extension Downloads {
    /// Answers everything under `/download`.
    ///
    /// The signature is judged before anything is looked up.
    public func answer(to request: Request) -> Answer {
        // Whose pages may read the content is not known yet, and that a URL is refused says nothing
        // of it: each page may read that, to ask for a fresh one (§9.6).
        let open = CrossOrigin.everybody
        let ticket: DownloadTicket
        do throws(DownloadTicket.Refusal) {
            let now = clock.now() / 1000
            ticket = try DownloadTicket(
                request.target, keys: keys.withLock { $0 }, now: now,
                leeway: settings.downloadLeeway / 1000)
        } catch {
            if request.method == .options {
                let response = open.options(request, methods: Downloads.methods)
                return Answer(Downloads.route, response)
            }
            let error = error == .expired ? DownloadError.expired : .forged
            return Answer(Downloads.route, finish(error.response(settings), open, request))
        }
        guard [.get, .head, .options].contains(request.method) else {
            return Answer(
                Downloads.route, finish(DownloadError.method.response(settings), open, request))
        }
        return Answer(Downloads.route) { [self] _ in await response(to: request, ticket) }
    }

    private func response(to request: Request, _ ticket: DownloadTicket) async -> Response {
        var origin = CrossOrigin.transfers(recorded: nil, settings)
        do {
            guard let name = BlobName(ticket.content),
                let content = try await catalog.content(ticket.content)
            else { throw DownloadError.notFound }
            origin = CrossOrigin.transfers(recorded: content.origin, settings)
            if request.method == .options {
                return origin.options(request, methods: Downloads.methods)
            }
            let delivery = Delivery(
                content: content, ticket: ticket, source: try await open(name, content.archive),
                settings: settings, now: clock.now() / 1000)
            return finish(try await delivery.response(to: request), origin, request)
        } catch let error as DownloadError {
            return finish(error.response(settings), origin, request)
        } catch {
            return finish(DownloadError.backend.response(settings), origin, request)
        }
    }

    private func open(
        _ name: BlobName, _ archive: Archive?
    ) async throws(DownloadError) -> OpenContent {
        do throws(StorageError) {
            if let archive { return try await storage.open(archive) }
            return try await storage.open(name)
        } catch {
            throw DownloadError(error)
        }
    }

    private func finish(
        _ response: Response, _ origin: CrossOrigin, _ request: Request
    ) -> Response {
        var response = response
        origin.add(to: &response.fields, for: request)
        return response
    }
}
