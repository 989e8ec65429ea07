import HTTP

extension Endpoint {
    /// The system's perspective on conversations (platform-api §5.1).
    static let conversations = [
        Endpoint(
            .post, "/apps/{app}/conversations", "Creates a conversation.", isKeyed: true,
            .body { call, body in try await call.createConversation(body) }),
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}", "Reads a conversation.",
            isCompressed: true,
            .head { call in try await call.readConversation() }),
        Endpoint(
            .patch, "/apps/{app}/conversations/{conversation}",
            "Changes participants and metadata.",
            .body { call, body in try await call.patchConversation(body) }),
        Endpoint(
            .delete, "/apps/{app}/conversations/{conversation}",
            "Deletes a conversation for everyone.",
            .head { call in try await call.deleteConversation() }),
    ]
}
