import HTTP
import Messaging
import MessagingStore
import MessagingWire

extension PlatformAPI {
    /// The rest of the way of a request whose route and method are known.
    func answer(_ gate: Gate, _ route: String) -> Answer {
        do throws(APIError) {
            let version = try gate.version()
            if let others = gate.otherMethods(in: version) {
                return others == [.options]
                    ? Answer(
                        Self.unknownRoute, APIError.unknownEndpoint(gate.request).reply.response)
                    : Answer(route, methods(others, gate.request))
            }
            try gate.requirePatchType(version)
            return Answer(route) { [self] body in
                let secrets = Secrets()
                let response = await respond(gate.request) {
                    try await reply(gate, version, body, secrets)
                }
                guard gate.endpoint.isCompressed else { return response }
                return await response.compressed(
                    for: gate.request.fields, from: settings.compressMinimum,
                    holdsSecret: secrets.areTold)
            }
        } catch {
            return Answer(route, error.reply.response)
        }
    }

    private func reply(
        _ gate: Gate, _ version: APIVersion, _ body: any RequestBody, _ secrets: Secrets
    ) async throws -> Reply {
        let grant = try await gate.grant()
        let key = try gate.replayKey()
        let call = Call(
            api: self, request: gate.request, parameters: gate.parameters, version: version,
            application: grant.application.id, key: key, secrets: secrets)
        switch gate.endpoint.handler {
        case .head(let handle):
            return try await handle(call)
        case .body(let handle):
            let coding = try BodyReading.coding(of: gate.request)
            let limits = InflationLimits(size: BodyReading.limit, ratio: settings.maxInflateRatio)
            return try await handle(call, BodyReading.value(of: body.decoded(coding, limits)))
        }
    }

    /// Turns whatever a handler throws into an answer; a fault is reported here, once.
    private func respond(
        _ request: Request, _ handle: () async throws -> Reply
    ) async -> Response {
        do {
            return try await handle().response
        } catch let error as APIError {
            return error.reply.response
        } catch let rejection as Rejection {
            return APIError(rejection).reply.response
        } catch let error as BodyError {
            return Response(error)
        } catch {
            switch onFault(error, request.id) {
            case .unavailable:
                return APIError(.serviceUnavailable, "The service is not available now.")
                    .reply.response
            case .unexpected:
                return APIError(.internalServerError, "Something unexpected happened.")
                    .reply.response
            }
        }
    }
}
