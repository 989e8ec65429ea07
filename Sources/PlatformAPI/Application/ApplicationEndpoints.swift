import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The application itself (platform-api §5.11).
    static let applications = [
        Endpoint(
            .patch, "/apps/{app}", "Sets the lifetime of new sessions.",
            .jsonBody { context, body in try await context.patchApplication(body) }
        ) { _ in
            Operation(
                "patchApplication", body: ApplicationPatchJSON.schema, answers: [.accepted()],
                example: Example(
                    body: """
                        [{"operation":"set","property":"session_ttl_in_seconds","value":3600}]
                        """))
        }
    ]
}

extension RequestContext {
    /// `PATCH /apps/{APP}` (platform-api §5.11).
    func patchApplication(_ body: JSONValue) async throws -> Reply {
        if let seconds = try ApplicationPatchJSON.read(body.asPatch()) {
            try await store.setSessionLifetime(seconds, of: application)
        }
        return Reply(.accepted)
    }
}

extension Endpoint {
    /// Notifications without a message (platform-api §5.6).
    static let notifications = [
        Endpoint(
            .post, "/apps/{app}/notifications", "Sends a notification without a message.",
            isKeyed: true, .jsonBody { context, body in try await context.notify(body) }
        ) { version in
            Operation(
                "notify", body: PushNotificationJSON.schema(version), answers: [.accepted()],
                example: Example(
                    body: """
                        {"recipients":[\(Sample.name(Sample.reader, version))],\
                        "notification":{"text":"Water off at noon","sound":"ping.aiff"}}
                        """))
        }
    ]
}

extension RequestContext {
    /// `POST /notifications` (platform-api §5.6): the answer is sent once it is in the event log.
    func notify(_ body: JSONValue) async throws -> Reply {
        let draft = try PushNotificationJSON.read(body.asObject(), version)
        try await store.notify(draft, key: key, in: application)
        return Reply(.accepted)
    }
}
