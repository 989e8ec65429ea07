import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// What users signal to each other, for clients without a WebSocket (Y4).
    static let signals = [
        Endpoint(
            .post, "/conversations/{conversation}/typing",
            "Tells the other participants that the user types.", family: .client,
            .jsonBody { context, body in try await context.type(body) }
        ) { _ in
            Operation(
                "sendTyping", body: SignalJSON.typingSchema, answers: [.accepted()],
                errors: [.missingProperty],
                example: Example(body: #"{"action":"started"}"#))
        },
        Endpoint(
            .put, "/presence", "Sets the presence of the user.", family: .client,
            versions: [.v2_0, .v3_0],
            .jsonBody { context, body in try await context.setPresence(body) }
        ) { _ in
            Operation(
                "setPresence", body: SignalJSON.presenceSchema, answers: [.accepted()],
                errors: [.missingProperty],
                example: Example(body: #"{"status":"away"}"#))
        },
    ]
}

extension RequestContext {
    /// `POST /conversations/{C}/typing` (Y4).
    func type(_ body: JSONValue) async throws -> Reply {
        let action = try SignalJSON.typing(body.asObject())
        let user = try user()
        let conversation = try await store.requireTyping(
            by: user, in: conversation(), in: application)
        api.signals.type(action, by: user, in: conversation, of: application)
        return Reply(.accepted)
    }

    /// `PUT /presence` (Y4).
    func setPresence(_ body: JSONValue) async throws -> Reply {
        let status = try SignalJSON.presence(body.asObject())
        api.signals.setPresence(status, of: try user(), in: application)
        return Reply(.accepted)
    }
}
