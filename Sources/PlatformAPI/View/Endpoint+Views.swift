import HTTP
import JSON
import MessagingWire

extension Endpoint {
    /// What a user sees and reads; the server speaks for him (platform-api §5.14).
    static let views = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations", "Lists a user's conversations.",
            isCompressed: true, .head { call in try await call.listUserConversations() }
        ) { version in
            Operation(
                "listUserConversations",
                query: Parameter.page(of: .conversations) + Parameter.conversationFilters + [
                    Parameter(
                        "sort_by", .choice(["created_at", "last_message"]),
                        "What comes first: the latest made, or the latest written to.")
                ],
                answers: [.list(of: ConversationJSON.userSchema(version), [.contentLocation])],
                errors: [.invalidOperation],
                example: Example(
                    query: [("sort_by", "last_message")], after: ["sendMessage"]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations/{conversation}",
            "Reads a conversation as a user sees it.", isCompressed: true,
            .head { call in try await call.readView() }
        ) { version in
            Operation(
                "readUserConversation", query: Parameter.asOf,
                answers: [
                    .ok(
                        ConversationJSON.userSchema(version), "The conversation.",
                        [.tagOfCurrent, .contentLocation])
                ], errors: [.positionGone], example: Example(after: ["sendMessage"]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/conversations/{conversation}/mark_all_read",
            "Marks what a user sees of a conversation as read.",
            .body { call, body in try await call.markAllRead(body) }
        ) { _ in
            Operation(
                "markAllRead", body: MarkAllReadJSON.schema,
                answers: [.accepted(MarkAllReadJSON.answerSchema, [.contentLocation])],
                example: Example(body: #"{"position":null}"#, after: ["sendMessage"]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations/{conversation}/messages",
            "Lists the messages a user sees, newest first.", isCompressed: true,
            .head { call in try await call.listVisibleMessages() }
        ) { version in
            Operation(
                "listUserMessages",
                query: Parameter.page(of: .messages) + Parameter.messageFilters + Parameter.inline
                    + Parameter.asOf,
                answers: [.list(of: MessageJSON.schema(version), [.contentLocation])],
                errors: [.invalidOperation, .positionGone],
                example: Example(query: [("page_size", "20")], after: ["sendMessage"]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/messages/{message}",
            "Reads a message as a user sees it.", isCompressed: true,
            .recalled { call in
                call.recallVisibleMessage()
            } else: { call in
                try await call.readVisibleMessage()
            }
        ) { version in
            Operation(
                "readUserMessage", query: Parameter.inline + Parameter.include,
                answers: [.ok(MessageJSON.schema(version), "The message.", [.tag])])
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/messages/{message}/receipts",
            "Records that a user has received or read a message.",
            .body { call, body in try await call.sendReceipt(body) }
        ) { _ in
            Operation(
                "sendReceipt", body: ReceiptJSON.schema, answers: [.noContent],
                example: Example(body: #"{"type":"read"}"#))
        },
    ]
}
