package import HTTP
import JSON
import Messaging
import MessagingStore
package import MessagingWire
import Uploads

extension PlatformAPI {
    /// Answers a request whose endpoint is known.
    func answer(_ checks: RequestChecks, _ route: String) -> Answer {
        let version: APIVersion
        do throws(APIError) {
            version = try checks.version()
        } catch {
            return Answer(route, response(to: error, for: checks.request))
        }
        let negotiation = Negotiation(checks.request, checks.endpoint, version)
        if let others = checks.otherMethods(in: version) {
            return checks.isAhead(of: version)
                ? Answer(
                    Self.unknownRoute,
                    negotiation.noted(
                        on: response(to: .unknownEndpoint(checks.request), for: checks.request)))
                : Answer(route, negotiation.noted(on: methods(others, checks.request)))
        }
        do throws(APIError) {
            try checks.requirePatchType(version)
        } catch {
            return Answer(route, negotiation.noted(on: response(to: error, for: checks.request)))
        }
        let limit = checks.endpoint.policy.limit
        if case .length(let length) = checks.request.framing, length > limit {
            let error = RequestBodyReader.tooLarge(limit)
            return Answer(route, negotiation.noted(on: response(to: error, for: checks.request)))
        }
        if case .withoutCredential(let handler) = checks.endpoint.handler {
            return Answer(route, checks.endpoint.policy) { [self] body in
                await respond(checks, negotiation) {
                    try await reply(checks, negotiation, body, handler)
                }
            }
        }
        if let answer = cachedAnswer(checks, negotiation, route) { return answer }
        return Answer(route, checks.endpoint.policy) { [self] body in
            let secrets = SecretTracker()
            var limitStatus: RateLimitStatus?
            var owner: RequestOwner?
            var response = await respond(checks, negotiation) {
                let authorization = try await checks.authorization()
                owner = authorization.owner
                guard admits(authorization, &limitStatus) else { throw tooManyRequests }
                return try await reply(checks, negotiation, authorization, body, secrets)
            }
            if let limitStatus { response.fields.add(limitStatus, policy: "token") }
            response.owner = owner
            guard checks.endpoint.isCompressed else { return response }
            return await response.compressed(
                for: checks.request.fields, from: settings.compressMinimum,
                holdsSecret: secrets.containsSecret)
        }
    }

    /// Returns the answer to a read from the cache; `nil` when it is not cached, or the request fails.
    ///
    /// The checks and their order are the same; what fails here fails again in the full handling, which reports it.
    private func cachedAnswer(_ checks: RequestChecks, _ negotiation: Negotiation, _ route: String)
        -> Answer?
    {
        guard case .cached(let readCache, else: _) = checks.endpoint.handler,
            let authorization = try? checks.cachedAuthorization(),
            let query = try? negotiation.query(),
            (try? negotiation.requireKnown()) != nil,
            let reply = readCache(
                context(checks, negotiation.version, query, authorization, nil, SecretTracker()))
        else { return nil }
        var limitStatus: RateLimitStatus?
        let isAdmitted = admits(authorization, &limitStatus)
        var response = negotiation.noted(
            on: isAdmitted ? reply.response : response(to: tooManyRequests, for: checks.request))
        if let limitStatus { response.fields.add(limitStatus, policy: "token") }
        response.owner = authorization.owner
        guard checks.endpoint.isCompressed else { return Answer(route, response) }
        let (fields, minimum) = (checks.request.fields, settings.compressMinimum)
        if let plain = response.uncompressed(for: fields, from: minimum) {
            return Answer(route, plain)
        }
        return Answer(route) { [response] _ in
            await response.compressed(for: fields, from: minimum)
        }
    }

    /// The error of step 5 (ruling 34).
    ///
    /// A limit is at least one request per second, so the next one passes within a second.
    private var tooManyRequests: APIError {
        let limit = limiter.limit
        return .rateLimited(
            """
            The token has sent too many requests: the limit is \(limit.perSecond) per second, and \
            \(limit.burst) at once after a pause.
            """, retryAfter: 1)
    }

    /// Step 5: counts the request against the rate limit of the token or session.
    private func admits(
        _ authorization: Authorization, _ limitStatus: inout RateLimitStatus?
    ) -> Bool {
        switch limiter.admit(authorization.caller.id, at: clock().milliseconds) {
        case .free: return true
        case .admitted(let status):
            limitStatus = status
            return true
        case .refused(let status):
            limitStatus = status
            return false
        }
    }

    private func context(
        _ checks: RequestChecks, _ version: APIVersion, _ query: Query,
        _ authorization: Authorization, _ key: Replay.Key?,
        _ secrets: SecretTracker
    ) -> RequestContext {
        let actor = checks.endpoint.actor(
            for: checks.parameters["user"], or: authorization.caller)
        let trace = checks.request.trace.map { Trace(id: $0.traceID, flags: $0.flags) }
        return RequestContext(
            api: self, store: store.acting(as: actor).within(trace), request: checks.request,
            parameters: checks.parameters, query: query, version: version,
            application: authorization.application,
            caller: authorization.caller, key: key, secrets: secrets,
            hidesContent: checks.hidesContent)
    }

    private func reply(
        _ checks: RequestChecks, _ negotiation: Negotiation, _ authorization: Authorization,
        _ body: any RequestBody,
        _ secrets: SecretTracker
    ) async throws -> Reply {
        let idempotencyKey = try checks.idempotencyKey()
        let (key, query) = (try checks.replayKey(), try negotiation.query())
        let context = context(checks, negotiation.version, query, authorization, key, secrets)
        var handle: @Sendable (RequestContext) async throws -> Reply
        var bytes: [UInt8] = []
        switch checks.endpoint.handler {
        case .withoutBody(let handler), .cached(_, else: let handler):
            try negotiation.requireKnown()
            handle = handler
        case .eventStream(let open, else: let handler):
            try negotiation.requireKnown()
            if checks.wantsStream {
                handle = { context in Reply(try await open(context)) }
            } else {
                handle = handler
            }
        case .jsonBody(let handler):
            let read = try await readJSON(body, checks, negotiation)
            bytes = read.bytes
            try await checks.endpoint.check?(context, read.value)
            handle = { context in try await handler(context, read.value) }
        case .streamedBody(let handler):
            try negotiation.requireKnown()
            let decoded = try await self.decoded(body, checks, isKeyed: idempotencyKey != nil)
            bytes = (decoded as? BufferedBody)?.digest ?? []
            handle = { context in try await handler(context, decoded) }
        // Answered before step 4, without a context.
        case .withoutCredential: throw APIError.unknownEndpoint(checks.request)
        }
        if checks.endpoint.family == .client, checks.endpoint.method != .get {
            handle = Self.addingCursor(handle, epoch: try await store.epoch())
        }
        guard let idempotencyKey else { return try await handle(context) }
        return try await context.reply(once: idempotencyKey, to: checks.endpoint, bytes, handle)
    }

    /// Returns a handler that adds the position of the effect of the request in the feed of the user (Y2).
    private static func addingCursor(
        _ handle: @escaping @Sendable (RequestContext) async throws -> Reply, epoch: String
    ) -> @Sendable (RequestContext) async throws -> Reply {
        { context in
            let effect = RecordedEffect()
            var context = context
            context.store = context.store.noting(effect)
            let reply = try await handle(context)
            return try await reply.addingCursor(
                of: effect, in: context.application, epoch: epoch, context.store)
        }
    }

    /// Handles a request that needs no credential.
    private func reply(
        _ checks: RequestChecks, _ negotiation: Negotiation, _ body: any RequestBody,
        _ handle: (LoginContext, JSONValue) async throws -> Reply
    ) async throws -> Reply {
        let value: JSONValue
        if checks.endpoint.method == .post {
            value = try await readJSON(body, checks, negotiation).value
        } else {
            value = try RequestBodyReader.value(of: [])
            try negotiation.requireKnown()
        }
        return try await handle(
            LoginContext(api: self, request: checks.request, parameters: checks.parameters), value)
    }

    /// Reads and parses a JSON body, and checks the names of parameters and members.
    private func readJSON(
        _ body: any RequestBody, _ checks: RequestChecks, _ negotiation: Negotiation
    ) async throws -> (bytes: [UInt8], value: JSONValue) {
        let coding = try RequestBodyReader.coding(of: checks.request)
        let limits = InflationLimits(
            size: RequestBodyReader.limit, ratio: settings.maxInflateRatio)
        let bytes = try await RequestBodyReader.bytes(of: body.decoded(coding, limits))
        let value = try RequestBodyReader.value(
            of: bytes, isPatch: checks.endpoint.method == .patch,
            checks.request.fields["Content-Type"])
        try negotiation.requireKnown()
        try negotiation.requireKnownMembers(of: value, of: checks.endpoint)
        return (bytes, value)
    }

    /// The 401 of a request without a valid session, with a fresh nonce (client-api §2.4).
    func challenge(_ problem: SessionToken.Problem) async throws -> APIError {
        APIError(problem, nonce: try await store.newNonce())
    }

    /// Returns a body of any length, decoded. With an `Idempotency-Key` the whole body is received first, because the
    /// request must be compared with an earlier one.
    private func decoded(
        _ body: any RequestBody, _ checks: RequestChecks, isKeyed: Bool
    ) async throws -> any RequestBody {
        let limit = RequestBodyReader.streamedLimit
        let plain = body.decoded(
            try RequestBodyReader.coding(of: checks.request),
            InflationLimits(size: limit, ratio: settings.maxInflateRatio))
        guard isKeyed else { return plain }
        return try await withDiskSpace { [uploads, onFault] in
            try await BufferedBody(
                plain, in: uploads.blobs, requireSpace: { try uploads.requireDiskSpace() },
                onFault: { error in _ = onFault(error, checks.request.id) })
        }
    }

    /// Runs a handler, converts what it throws, and adds the negotiation's headers.
    private func respond(
        _ checks: RequestChecks, _ negotiation: Negotiation, _ handle: () async throws -> Reply
    ) async -> Response {
        let answer: Response
        do {
            let reply = try await handle()
            answer = negotiation.noted(on: reply.response, namesVersion: !reply.namesVersion)
        } catch {
            answer = negotiation.noted(on: response(to: error, checks))
        }
        return checks.hidesContent ? ContentHiding.hidden(answer) : answer
    }

    private func response(to error: any Error, _ checks: RequestChecks) -> Response {
        response(
            to: error, for: checks.request, of: checks.endpoint.family,
            limit: checks.endpoint.policy.limit)
    }

    /// Converts an error that a handler throws; a fault is reported here, once.
    ///
    /// - Parameter limit: The most bytes of a body.
    package func response(
        to error: any Error, for request: Request, of family: APIFamily, limit: Int64
    ) -> Response {
        if let error = error as? BodyError {
            return Response(error, limit: limit, publicBase: publicBase.of(request))
        }
        return response(to: apiError(for: error, request.id, family), for: request)
    }

    /// Converts any error but that of a body; a fault is reported here, once.
    ///
    /// - Parameter request: The request that has caused it.
    package func apiError(
        for error: any Error, _ request: RequestID, _ family: APIFamily
    ) -> APIError {
        switch error {
        case let error as APIError: return error
        case let problem as IdentityTokenProblem: return APIError(problem)
        case let error as ImportError: return APIError(error)
        case let rejection as Rejection: return APIError(rejection, family)
        default:
            switch onFault(error, request) {
            case .unavailable:
                return APIError(.serviceUnavailable, "The service is not available now.")
            case .unexpected:
                return APIError(.internalServerError, "Something unexpected happened.")
            }
        }
    }
}

extension Reply {
    /// Adds the position of the effect of a write in the feed of a user: the end of the log if it changed nothing (Y2).
    func addingCursor(
        of effect: RecordedEffect, in application: Application.ID, epoch: String,
        _ store: MessagingStore
    ) async throws -> Reply {
        let position = try await store.position(of: effect, in: application)
        return adding("Parley-Cursor", "\(epoch).\(position.number)")
    }
}
