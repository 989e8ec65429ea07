import HTTP

extension Endpoint {
    /// What a user sees, writes and reads; the server speaks for him (platform-api §5.14).
    static let views = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations", "Lists a user's conversations.",
            isCompressed: true, .head { call in try await call.listConversations() }),
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations/{conversation}",
            "Reads a conversation as a user sees it.", isCompressed: true,
            .head { call in try await call.readView() }),
        Endpoint(
            .post, "/apps/{app}/users/{user}/conversations/{conversation}/mark_all_read",
            "Marks what a user sees of a conversation as read.",
            .body { call, body in try await call.markAllRead(body) }),
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations/{conversation}/messages",
            "Lists the messages a user sees, newest first.", isCompressed: true,
            .head { call in try await call.listVisibleMessages() }),
        Endpoint(
            .get, "/apps/{app}/users/{user}/messages/{message}",
            "Reads a message as a user sees it.", isCompressed: true,
            .head { call in try await call.readVisibleMessage() }),
        Endpoint(
            .post, "/apps/{app}/users/{user}/messages/{message}/receipts",
            "Records that a user has received or read a message.",
            .body { call, body in try await call.sendReceipt(body) }),
    ]
}
