import HTTP

extension Endpoint {
    /// The system's perspective on messages (platform-api §5.2).
    static let messages = [
        Endpoint(
            .post, "/apps/{app}/conversations/{conversation}/messages", "Sends a message.",
            isKeyed: true, .body { call, body in try await call.sendMessage(body) }),
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/messages",
            "Lists messages, newest first.", isCompressed: true,
            .head { call in try await call.listMessages() }),
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/messages/{message}",
            "Reads a message.", isCompressed: true,
            .head { call in try await call.readMessage() }),
        Endpoint(
            .delete, "/apps/{app}/conversations/{conversation}/messages/{message}",
            "Deletes a message for everyone.",
            .head { call in try await call.deleteMessage() }),
        Endpoint(
            .get, "/apps/{app}/messages/{message}", "Reads a message by its short address.",
            isCompressed: true,
            .head { call in try await call.readMessage() }),
        Endpoint(
            .delete, "/apps/{app}/messages/{message}", "Deletes a message by its short address.",
            .head { call in try await call.deleteMessage() }),
    ]
}
