import HTTP

extension Endpoint {
    /// Everything the Platform API offers, each line once.
    public static let all: [Endpoint] = conversations + messages + content

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
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations", "Lists a user's conversations.",
            isCompressed: true,
            .head { call in try await call.listConversations() }),
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
