internal import Blobs
public import HTTP
internal import Locking

extension Uploads {
    /// Answers everything under `/uploads`.
    ///
    /// The body is read only when every check of the head has passed; the transport drains or
    /// closes on its own otherwise.
    public func answer(to request: Request) -> Answer {
        let open = CrossOrigin.transfers(recorded: nil, engine.settings)
        guard let name = recordName(in: request.target) else {
            if request.method == .options {
                return Answer(
                    Uploads.route, finish(open.options(request, methods: Uploads.methods)))
            }
            return Answer(Uploads.route, finish(UploadError.notFound.response, open, request))
        }
        let action: UploadAction
        do throws(UploadAction.Refusal) {
            action = try UploadAction(request)
        } catch {
            return Answer(Uploads.route, finish(refusal(error), open, request))
        }
        return Answer(Uploads.route, policy) { [self] body in
            if isStopping.withLock({ $0 }) {
                return finish(UploadError.stalled.response, open, request)
            }
            let upload: Upload
            do throws(UploadError) {
                guard let known = try await checkOut(name) else { throw .notFound }
                upload = known
            } catch {
                if case .options = action {
                    return finish(open.options(request, methods: Uploads.methods))
                }
                return finish(error.response, open, request)
            }
            defer { checkIn(name) }
            let origin = CrossOrigin.transfers(
                recorded: await upload.record.origin, engine.settings)
            if case .options = action {
                return finish(origin.options(request, methods: Uploads.methods))
            }
            return finish(await upload.response(to: action, body), origin, request)
        }
    }

    /// Pace of a body (§3.5); its size is the engine's business.
    private var policy: BodyPolicy {
        let settings = engine.settings
        return BodyPolicy(
            limit: .max, idleMilliseconds: settings.bodyIdleTimeout,
            minimumRate: settings.minRate, graceMilliseconds: settings.minRateGrace,
            patienceMilliseconds: settings.commitInterval, isTimed: false)
    }

    private func recordName(in target: RequestTarget) -> BlobName? {
        // What cannot be decoded names nothing.
        guard let segments = try? target.segments(), segments.count == 2 else { return nil }
        return UploadToken(segments[1])?.recordName
    }

    private func refusal(_ refusal: UploadAction.Refusal) -> Response {
        switch refusal {
        case .error(let error): return error.response
        case .method:
            var response = Response(
                .methodNotAllowed, "application/json",
                ErrorJSON.bytes(
                    .methodNotAllowed, reason: "invalid",
                    message: "This method has no meaning here."))
            response.fields.add("Allow", Uploads.methods)
            return response
        }
    }

    /// Adds what every answer of the resource carries (§3.6).
    private func finish(_ response: Response, _ origin: CrossOrigin, _ request: Request) -> Response
    {
        var response = finish(response)
        origin.add(to: &response.fields, for: request)
        return response
    }

    private func finish(_ response: Response) -> Response {
        var response = response
        response.fields.add("Cache-Control", "no-store")
        return response
    }
}
