import HTTP

extension Endpoint {
    /// Everything the Platform API offers, each line once.
    public static let all: [Endpoint] = conversations + messages + views + content

    private static let conversations = [
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

    private static let messages = [
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

    /// What a user sees and reads; the server speaks for him (platform-api §5.14).
    private static let views = [
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

    private static let content = [
        Endpoint(
            .post, "/apps/{app}/conversations/{conversation}/content",
            "Announces content and says where to upload it.",
            .head { call in try await call.createContent() }),
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/content/{content}",
            "Gives content a fresh download URL.",
            .head { call in try await call.readContent() }),
    ]
}
