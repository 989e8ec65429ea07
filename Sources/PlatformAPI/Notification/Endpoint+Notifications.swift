import HTTP

extension Endpoint {
    /// Notifications without a message (platform-api §5.6).
    static let notifications = [
        Endpoint(
            .post, "/apps/{app}/notifications", "Hands over a notification without a message.",
            isKeyed: true, .body { call, body in try await call.notify(body) })
    ]
}
