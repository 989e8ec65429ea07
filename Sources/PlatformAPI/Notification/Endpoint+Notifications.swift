import HTTP
import MessagingWire

extension Endpoint {
    /// Notifications without a message (platform-api §5.6).
    static let notifications = [
        Endpoint(
            .post, "/apps/{app}/notifications", "Hands over a notification without a message.",
            isKeyed: true, .body { call, body in try await call.notify(body) }
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
