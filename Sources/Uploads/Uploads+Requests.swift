internal import Blobs
public import HTTP
internal import SystemSupport

extension Uploads {
    /// Answers everything under `/uploads`.
    ///
    /// The body is read only when every check of the head has passed; the transport drains or
    /// closes on its own otherwise.
    ///
    /// - Parameter entrance: Says who may create at the creation endpoint.
    public func answer(to request: Request, by entrance: any UploadAuthorizer) -> Answer {
        var dialect = UploadProtocol.neutral
        let answer = answer(to: request, by: entrance, in: &dialect)
        return counted(answer, as: dialect)
    }

    /// - Parameter word: What the answer is to be counted as; unchanged when its head names nothing.
    private func answer(
        to request: Request, by entrance: any UploadAuthorizer, in word: inout UploadProtocol
    ) -> Answer {
        guard let place = UploadPath(request.target) else {
            return request.method == .options
                ? discovery(request, Uploads.noMethods)
                : refused(jsonErrors(.notFound), request)
        }
        if request.method == .options {
            guard case .resource(let name) = place else {
                return discovery(request, Uploads.creationMethods)
            }
            return discovery(request, of: name)
        }
        let dialect: ProtocolSelection
        do throws(UploadError) {
            dialect = try ProtocolSelection(request, at: place)
        } catch {
            return refused(jsonErrors(error), request)
        }
        word = UploadProtocol(dialect, of: request)
        switch (place, dialect) {
        case (.creation, .contentRange): return createSession(request, by: entrance)
        case (.resource(let name), .contentRange): return contentRange(request, name)
        case (.resource(let name), .neutral): return neutral(request, name)
        case (.creation, .tus(let method)): return tusCreation(request, method, by: entrance)
        case (.resource(let name), .tus(let method)): return tus(request, method, name)
        case (.creation, .interop(let version)):
            return interopCreation(request, version, by: entrance)
        case (.resource(let name), .interop(let version)): return interop(request, version, name)
        case (.creation, .neutral): return refused(jsonErrors(.creationMethod), request)
        }
    }

    /// An answer from the head alone, with the fields every answer carries.
    func refused(_ response: Response, _ request: Request) -> Answer {
        Answer(Uploads.route, finish(response, anyOrigin, request))
    }
}

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
    var jsonErrors: @Sendable (UploadError) -> Response {
        let settings = engine.settings
        return { error in error.response(settings) }
    }

    /// Which pages may use an upload nobody has named an origin for.
    var anyOrigin: CORSPolicy { .transfers(recorded: nil, engine.settings) }

    func origin(of upload: Upload) async -> CORSPolicy {
        .transfers(recorded: await upload.record.origin, engine.settings)
    }

    /// Pace of a body (§3.5); its size is the engine's business.
    var policy: BodyPolicy {
        let settings = engine.settings
        return BodyPolicy(
            limit: .max, idleMilliseconds: settings.bodyIdleTimeout,
            minimumRate: settings.minRate, graceMilliseconds: settings.minRateGrace,
            coalescingMilliseconds: settings.commitInterval, trailer: TusProtocol.trailer,
            isTimed: false)
    }

    /// Adds what every answer of the resource carries (§3.6).
    func finish(_ response: Response, _ origin: CORSPolicy, _ request: Request) -> Response {
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

extension Uploads {
    /// `OPTIONS` of no upload in particular: everybody may ask (§3.7).
    func discovery(_ request: Request, _ methods: String) -> Answer {
        Answer(Uploads.route, options(request, anyOrigin, methods))
    }

    /// `OPTIONS` of an upload: the same, for the pages its creator named. `Allow` lists what the upload accepts in
    /// its state; one that is unknown, and one that has ended without a content, accept nothing else.
    func discovery(_ request: Request, of name: BlobName) -> Answer {
        Answer(Uploads.route, policy) { [self] _ in
            let upload: Upload
            do throws(UploadError) {
                guard let found = try await checkOut(name) else {
                    return options(request, anyOrigin, Uploads.noMethods)
                }
                upload = found
            } catch {
                // What cannot be looked up now may well be open.
                return options(request, anyOrigin, Uploads.methods)
            }
            defer { checkIn(name) }
            let isGone = await upload.status.state.isGone
            return options(
                request, await origin(of: upload), isGone ? Uploads.noMethods : Uploads.methods)
        }
    }

    /// A preflight, or what this server can do, in the words of every dialect.
    private func options(
        _ request: Request, _ origin: CORSPolicy, _ methods: String
    ) -> Response {
        var response = origin.options(request, methods: methods)
        if !request.fields.contains("Access-Control-Request-Method") {
            TusProtocol.describe(in: &response.fields, maxSize: engine.settings.maxUploadSize)
            response.fields.add("Upload-Limit", engine.settings.limits)
        }
        return finish(response)
    }
}
