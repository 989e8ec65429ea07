import HTTP
import Messaging
import MessagingStore
import MessagingWire
import Uploads

extension PlatformAPI {
    /// Answers a request whose endpoint is known.
    func answer(_ gate: RequestChecks, _ route: String) -> Answer {
        let version: APIVersion
        do throws(APIError) {
            version = try gate.version()
        } catch {
            return Answer(route, response(to: error, for: gate.request))
        }
        let negotiation = Negotiation(gate.request, gate.endpoint, version)
        if let others = gate.otherMethods(in: version) {
            return gate.isAhead(of: version)
                ? Answer(
                    Self.unknownRoute,
                    negotiation.noted(
                        on: response(to: .unknownEndpoint(gate.request), for: gate.request)))
                : Answer(route, negotiation.noted(on: methods(others, gate.request)))
        }
        do throws(APIError) {
            try gate.requirePatchType(version)
        } catch {
            return Answer(route, negotiation.noted(on: response(to: error, for: gate.request)))
        }
        if let answer = recalled(gate, negotiation, route) { return answer }
        return Answer(route, gate.endpoint.policy) { [self] body in
            let secrets = Secrets()
            var limitStatus: RateLimitStatus?
            var owner: RequestOwner?
            var response = await respond(gate, negotiation) {
                let grant = try await gate.grant()
                owner = grant.owner
                guard admits(grant, &limitStatus) else { throw tooManyRequests }
                return try await reply(gate, negotiation, grant, body, secrets)
            }
            if let limitStatus { response.fields.add(limitStatus, policy: "token") }
            response.owner = owner
            guard gate.endpoint.isCompressed else { return response }
            return await response.compressed(
                for: gate.request.fields, from: settings.compressMinimum,
                holdsSecret: secrets.areTold)
        }
    }

    /// The answer to a read that is cached; `nil` when it takes waiting, or is an error.
    ///
    /// The same checks in the same order; what fails here fails again on the long way, which says why.
    private func recalled(_ gate: RequestChecks, _ negotiation: Negotiation, _ route: String)
        -> Answer?
    {
        guard case .recalled(let recall, else: _) = gate.endpoint.handler,
            let grant = try? gate.cachedGrant(), let query = try? negotiation.query(),
            (try? negotiation.requireKnown()) != nil,
            let reply = recall(call(gate, negotiation.version, query, grant, nil, Secrets()))
        else { return nil }
        var limitStatus: RateLimitStatus?
        let isAdmitted = admits(grant, &limitStatus)
        var response = negotiation.noted(
            on: isAdmitted ? reply.response : response(to: tooManyRequests, for: gate.request))
        if let limitStatus { response.fields.add(limitStatus, policy: "token") }
        response.owner = grant.owner
        guard gate.endpoint.isCompressed else { return Answer(route, response) }
        let (fields, minimum) = (gate.request.fields, settings.compressMinimum)
        if let plain = response.uncompressed(for: fields, from: minimum) {
            return Answer(route, plain)
        }
        return Answer(route) { [response] _ in
            await response.compressed(for: fields, from: minimum)
        }
    }

    /// Step 5 has failed (ruling 34).
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

    /// Step 5.
    private func admits(_ grant: Grant, _ limitStatus: inout RateLimitStatus?) -> Bool {
        switch limiter.admit(grant.token.id, at: clock().milliseconds) {
        case .free: return true
        case .admitted(let left):
            limitStatus = left
            return true
        case .refused(let left):
            limitStatus = left
            return false
        }
    }

    private func call(
        _ gate: RequestChecks, _ version: APIVersion, _ query: Query, _ grant: Grant,
        _ key: Replay.Key?,
        _ secrets: Secrets
    ) -> RequestContext {
        let actor = gate.endpoint.actor(for: gate.parameters["user"], or: grant.token.id)
        let trace = gate.request.trace.map { Trace(id: $0.traceID, flags: $0.flags) }
        return RequestContext(
            api: self, store: store.acting(as: actor).within(trace), request: gate.request,
            parameters: gate.parameters, query: query, version: version,
            application: grant.application.id,
            token: grant.token, key: key, secrets: secrets)
    }

    private func reply(
        _ gate: RequestChecks, _ negotiation: Negotiation, _ grant: Grant, _ body: any RequestBody,
        _ secrets: Secrets
    ) async throws -> Reply {
        let idempotencyKey = try gate.idempotencyKey()
        let (key, query) = (try gate.replayKey(), try negotiation.query())
        let call = call(gate, negotiation.version, query, grant, key, secrets)
        let handle: @Sendable (RequestContext) async throws -> Reply
        var bytes: [UInt8] = []
        switch gate.endpoint.handler {
        case .head(let handler), .recalled(_, else: let handler):
            try negotiation.requireKnown()
            handle = handler
        case .streamed(let open, else: let handler):
            try negotiation.requireKnown()
            if gate.wantsStream {
                handle = { call in Reply(try await open(call)) }
            } else {
                handle = handler
            }
        case .body(let handler):
            let coding = try RequestBodyReader.coding(of: gate.request)
            let limits = InflationLimits(
                size: RequestBodyReader.limit, ratio: settings.maxInflateRatio)
            bytes = try await RequestBodyReader.bytes(of: body.decoded(coding, limits))
            let value = try RequestBodyReader.value(
                of: bytes, isPatch: gate.endpoint.method == .patch,
                gate.request.fields["Content-Type"])
            try negotiation.requireKnown()
            try negotiation.requireKnownMembers(of: value, of: gate.endpoint)
            try await gate.endpoint.check?(call, value)
            handle = { call in try await handler(call, value) }
        case .pulled(let handler):
            try negotiation.requireKnown()
            let pulled = try await self.pulled(body, gate, isKeyed: idempotencyKey != nil)
            bytes = (pulled as? BufferedBody)?.digest ?? []
            handle = { call in try await handler(call, pulled) }
        }
        guard let idempotencyKey else { return try await handle(call) }
        return try await call.reply(once: idempotencyKey, to: gate.endpoint, bytes, handle)
    }

    /// A body of any length without its coding; under a key it is received first, because what is
    /// asked must be known before anything is done.
    private func pulled(
        _ body: any RequestBody, _ gate: RequestChecks, isKeyed: Bool
    ) async throws -> any RequestBody {
        let limit = RequestBodyReader.pulledLimit
        let plain = body.decoded(
            try RequestBodyReader.coding(of: gate.request, atMost: limit),
            InflationLimits(size: limit, ratio: settings.maxInflateRatio))
        guard isKeyed else { return plain }
        return try await withDiskSpace { [uploads] in
            try await BufferedBody(plain, in: uploads.blobs) { try uploads.requireDiskSpace() }
        }
    }

    /// Turns what a handler throws into an answer, and names what was negotiated.
    private func respond(
        _ gate: RequestChecks, _ negotiation: Negotiation, _ handle: () async throws -> Reply
    ) async -> Response {
        do {
            let reply = try await handle()
            return negotiation.noted(on: reply.response, namesVersion: !reply.namesVersion)
        } catch {
            return negotiation.noted(on: response(to: error, gate))
        }
    }

    /// Whatever a handler throws, as an answer; a fault is reported here, once.
    private func response(to error: any Error, _ gate: RequestChecks) -> Response {
        switch error {
        case let error as APIError: return response(to: error, for: gate.request)
        case let mistake as ImportError:
            return response(to: APIError(mistake), for: gate.request)
        case let rejection as Rejection:
            return response(to: APIError(rejection, gate.endpoint.family), for: gate.request)
        case let error as BodyError:
            return Response(
                error, limit: gate.endpoint.policy.limit, publicBase: publicBase.of(gate.request))
        default:
            switch onFault(error, gate.request.id) {
            case .unavailable:
                return response(
                    to: APIError(.serviceUnavailable, "The service is not available now."),
                    for: gate.request)
            case .unexpected:
                return response(
                    to: APIError(.internalServerError, "Something unexpected happened."),
                    for: gate.request)
            }
        }
    }
}

extension Grant {
    /// Whom the log names.
    var owner: RequestOwner {
        RequestOwner(application: application.id.uuid, token: token.id.uuid)
    }
}
