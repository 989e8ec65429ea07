internal import Blobs
internal import HTTP
internal import Locking

extension Uploads {
    /// Finds the upload of a request and does something with it, whatever the dialect.
    ///
    /// - Parameters:
    ///   - words: How the dialect says what went wrong.
    ///   - act: What to do; it alone reads the body.
    func work(
        on name: BlobName, for request: Request,
        words: @escaping @Sendable (UploadError) -> Response,
        _ act: @escaping @Sendable (Upload, any RequestBody) async -> Response
    ) -> Answer {
        Answer(Uploads.route, policy) { [self] body in
            if isStopping.withLock({ $0 }) { return finish(words(.stalled), anyOrigin, request) }
            let upload: Upload
            do throws(UploadError) {
                guard let known = try await checkOut(name) else { throw .notFound }
                upload = known
            } catch {
                return finish(words(error), anyOrigin, request)
            }
            defer { checkIn(name) }
            let origin = await origin(of: upload)
            return finish(await act(upload, body), origin, request)
        }
    }

    /// Errors as JSON, which requests without a protocol of their own and those of dialects A and D get.
    var jsonWords: @Sendable (UploadError) -> Response {
        let settings = engine.settings
        return { error in error.response(settings) }
    }

    /// Which pages may use an upload nobody has named an origin for.
    var anyOrigin: CrossOrigin { .transfers(recorded: nil, engine.settings) }

    func origin(of upload: Upload) async -> CrossOrigin {
        .transfers(recorded: await upload.record.origin, engine.settings)
    }

    /// Pace of a body (§3.5); its size is the engine's business.
    var policy: BodyPolicy {
        let settings = engine.settings
        return BodyPolicy(
            limit: .max, idleMilliseconds: settings.bodyIdleTimeout,
            minimumRate: settings.minRate, graceMilliseconds: settings.minRateGrace,
            patienceMilliseconds: settings.commitInterval, trailer: TusProtocol.trailer,
            isTimed: false)
    }

    /// Adds what every answer of the resource carries (§3.6).
    func finish(_ response: Response, _ origin: CrossOrigin, _ request: Request) -> Response {
        var response = finish(response)
        origin.add(to: &response.fields, for: request)
        return response
    }

    func finish(_ response: Response) -> Response {
        var response = response
        response.fields.add("Cache-Control", "no-store")
        return response
    }
}
