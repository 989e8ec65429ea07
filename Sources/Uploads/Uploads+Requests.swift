internal import Blobs
public import HTTP
internal import SystemSupport

extension Uploads {
    /// Answers every request under `/uploads`.
    ///
    /// The body is read only after every check of the header has passed; otherwise the transport discards it or
    /// closes the connection.
    ///
    /// - Parameter authorizer: Decides which requests may create uploads at the creation endpoint.
    public func answer(to request: Request, by authorizer: any UploadAuthorizer) -> Answer {
        var uploadProtocol = UploadProtocol.neutral
        let answer = answer(to: request, by: authorizer, countedAs: &uploadProtocol)
        return counted(answer, as: uploadProtocol)
    }

    /// - Parameter counted: Set to the protocol under which the response is counted; unchanged when the header names
    ///   none.
    private func answer(
        to request: Request, by authorizer: any UploadAuthorizer,
        countedAs counted: inout UploadProtocol
    ) -> Answer {
        guard let path = UploadPath(request.target) else {
            return request.method == .options
                ? discovery(request, Uploads.noMethods)
                : refused(jsonErrors(request)(.notFound), request)
        }
        if request.method == .options {
            guard case .resource(let name) = path else {
                return discovery(request, Uploads.creationMethods)
            }
            return discovery(request, of: name)
        }
        let selection: ProtocolSelection
        do throws(UploadError) {
            selection = try ProtocolSelection(request, at: path)
        } catch {
            return refused(jsonErrors(request)(error), request)
        }
        counted = UploadProtocol(selection, of: request)
        switch (path, selection) {
        case (.creation, .contentRange): return createSession(request, by: authorizer)
        case (.resource(let name), .contentRange): return contentRange(request, name)
        case (.resource(let name), .neutral): return neutral(request, name)
        case (.creation, .tus(let method)): return tusCreation(request, method, by: authorizer)
        case (.resource(let name), .tus(let method)): return tus(request, method, name)
        case (.creation, .interop(let version)):
            return interopCreation(request, version, by: authorizer)
        case (.resource(let name), .interop(let version)): return interop(request, version, name)
        case (.creation, .neutral): return refused(jsonErrors(request)(.creationMethod), request)
        }
    }

    /// A response decided by the header alone, with the headers that every response carries.
    func refused(_ response: Response, _ request: Request) -> Answer {
        Answer(Uploads.route, finish(response, anyOrigin, request))
    }
}

extension Uploads {
    /// Looks up the upload of a request in any protocol and acts on it.
    ///
    /// - Parameters:
    ///   - errorResponse: Makes the protocol's error response.
    ///   - act: What to do; only this reads the body.
    func work(
        on name: BlobName, for request: Request,
        errorResponse: @escaping @Sendable (UploadError) -> Response,
        _ act: @escaping @Sendable (Upload, any RequestBody) async -> Response
    ) -> Answer {
        Answer(Uploads.route, policy) { [self] body in
            if isStopping.withLock({ $0 }) {
                return finish(errorResponse(.stalled), anyOrigin, request)
            }
            let upload: Upload
            do throws(UploadError) {
                guard let known = try await checkOut(name) else { throw .notFound }
                upload = known
            } catch {
                return finish(errorResponse(error), anyOrigin, request)
            }
            defer { checkIn(name) }
            let origin = await origin(of: upload)
            return finish(await act(upload, body), origin, request)
        }
    }

    /// Makes JSON error responses, for protocols A and D and for requests without a protocol.
    func jsonErrors(_ request: Request) -> @Sendable (UploadError) -> Response {
        let settings = engine.settings
        return { error in error.response(to: request, settings) }
    }

    /// The CORS rules of an upload that recorded no origin.
    var anyOrigin: CORSPolicy { .transfers(recorded: nil, engine.settings) }

    private func origin(of upload: Upload) async -> CORSPolicy {
        .transfers(recorded: await upload.record.origin, engine.settings)
    }

    /// The time limits of a body (§3.5); the engine limits its size.
    var policy: BodyPolicy {
        let settings = engine.settings
        return BodyPolicy(
            limit: .max, idleMilliseconds: settings.bodyIdleTimeout,
            minimumRate: settings.minRate, graceMilliseconds: settings.minRateGrace,
            coalescingMilliseconds: settings.commitInterval, trailer: TusProtocol.trailer,
            isTimed: false)
    }

    /// Adds the headers that every response of the resource carries (§3.6).
    func finish(_ response: Response, _ origin: CORSPolicy, _ request: Request) -> Response {
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

extension Uploads {
    /// `OPTIONS` without an upload; every origin is allowed (§3.7).
    private func discovery(_ request: Request, _ methods: String) -> Answer {
        Answer(Uploads.route, options(request, anyOrigin, methods))
    }

    /// `OPTIONS` of an upload, under its recorded origin. `Allow` lists what the upload accepts in its state; an
    /// upload that is unknown or has ended without content accepts nothing else.
    private func discovery(_ request: Request, of name: BlobName) -> Answer {
        Answer(Uploads.route, policy) { [self] _ in
            let upload: Upload
            do throws(UploadError) {
                guard let found = try await checkOut(name) else {
                    return options(request, anyOrigin, Uploads.noMethods)
                }
                upload = found
            } catch {
                // An upload that cannot be looked up now may be open.
                return options(request, anyOrigin, Uploads.methods)
            }
            defer { checkIn(name) }
            let isGone = await upload.status.state.isGone
            return options(
                request, await origin(of: upload), isGone ? Uploads.noMethods : Uploads.methods)
        }
    }

    /// The response to a preflight, or the supported features of every protocol.
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
