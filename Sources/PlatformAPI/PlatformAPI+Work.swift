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
                return Answer(route, Self.methods(others, gate.request.effectiveMethod))
            }
            try gate.requirePatchType(version)
            return Answer(route) { [self] body in
                await respond(gate.request) { try await reply(gate, version, body) }
            }
        } catch {
            return Answer(route, error.reply.response)
        }
    }

    private func reply(
        _ gate: Gate, _ version: APIVersion, _ body: any RequestBody
    ) async throws -> Reply {
        let grant = try await gate.grant()
        let key = try gate.replayKey()
        let call = Call(
            api: self, request: gate.request, parameters: gate.parameters, version: version,
            application: grant.application.id, key: key)
        switch gate.endpoint.handler {
        case .head(let handle):
            return try await handle(call)
        case .body(let handle):
            try BodyReading.check(gate.request.framing)
            return try await handle(call, BodyReading.value(of: body))
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
