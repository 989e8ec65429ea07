import HTTP
import JSON
import MessagingWire

extension Endpoint {
    /// Conversations and messages as a user sees them, and the user's receipts (platform-api §5.14).
    static let views = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations", "Lists a user's conversations.",
            isCompressed: true, .withoutBody { context in try await context.listConversations() }
        ) { version in
            Operation(
                "listUserConversations",
                query: Parameter.page(of: .conversations) + Parameter.conversationFilters + [
                    Parameter(
                        "sort_by", .choice(["created_at", "last_message"]),
                        "The order: by creation or by last message, latest first.")
                ],
                answers: [.list(of: ConversationJSON.userSchema(version), [.contentLocation])],
                errors: [.invalidOperation],
                example: Example(
                    query: [("sort_by", "last_message")], after: ["sendMessage"]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations/{conversation}",
            "Reads a conversation as a user sees it.", isCompressed: true,
            .withoutBody { context in try await context.readConversation() }
        ) { version in
            Operation(
                "readUserConversation", query: Parameter.asOf, fields: [.ifNoneMatch],
                answers: [
                    .ok(
                        ConversationJSON.userSchema(version), "The conversation.",
                        [.tagOfView, .contentLocation]), .notModified,
                ], errors: [.positionGone], example: Example(after: ["sendMessage"]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/conversations/{conversation}/mark_all_read",
            "Marks the messages a user sees in a conversation as read.",
            .jsonBody { context, body in try await context.markAllRead(body) }
        ) { _ in
            Operation(
                "markAllRead", body: MarkAllReadJSON.schema,
                answers: [.accepted(MarkAllReadJSON.answerSchema, [.contentLocation])],
                example: Example(body: #"{"position":null}"#, after: ["sendMessage"]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/conversations/{conversation}/receipts",
            "Records that a user has received or read messages, by positions.",
            .jsonBody { context, body in try await context.sendReceipts(body) }
        ) { _ in
            Operation(
                "sendUserReceipts", body: ReceiptJSON.positionsSchema, answers: [.noContent],
                errors: [.conversationMerged],
                example: Example(
                    body: #"{"type":"read","positions":"1-40,42"}"#, after: ["sendMessage"]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations/{conversation}/messages",
            "Lists the messages a user sees, newest first.", isCompressed: true,
            .withoutBody { context in try await context.listMessages() }
        ) { version in
            Operation(
                "listUserMessages",
                query: Parameter.page(of: .messages) + Parameter.messageFilters + Parameter.inline
                    + Parameter.recipients
                    + Parameter.asOf,
                answers: [.list(of: MessageJSON.schema(version), [.contentLocation])],
                errors: [.invalidOperation, .positionGone],
                example: Example(query: [("page_size", "20")], after: ["sendMessage"]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/messages/{message}",
            "Reads a message as a user sees it.", isCompressed: true,
            .cached { context in
                context.cachedMessageReply()
            } else: { context in
                try await context.readMessage()
            }
        ) { version in
            Operation(
                "readUserMessage",
                query: Parameter.inline + Parameter.include + Parameter.recipients,
                fields: [.ifNoneMatch],
                answers: [
                    .ok(MessageJSON.schema(version), "The message.", [.tagOfView]), .notModified,
                ])
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/messages/{message}/receipts",
            "Records that a user has received or read a message.",
            .jsonBody { context, body in try await context.sendReceipt(body) }
        ) { _ in
            Operation(
                "sendReceipt", body: ReceiptJSON.schema, answers: [.noContent],
                example: Example(body: #"{"type":"read"}"#))
        },
    ]
}

extension Endpoint {
    /// Changes by a user (platform-api §5.14).
    static let viewChanges = [
        Endpoint(
            .post, "/apps/{app}/users/{user}/conversations",
            "Creates a conversation on behalf of a user.", isKeyed: true,
            .jsonBody { context, body in try await context.createConversation(body) }
        ) { version, limits in
            Operation(
                "createUserConversation", body: ConversationDraftJSON.userSchema(version, limits),
                answers: [
                    .created(
                        ConversationJSON.userSchema(version), [.tag, .location, .contentLocation]),
                    .ok(
                        ConversationJSON.userSchema(version),
                        "The existing distinct conversation of these participants.",
                        [.tag, .location, .contentLocation]),
                ],
                errors: [.conflict, .participantBlocked, .idInUse],
                example: Example(
                    body: """
                        {"participants":[\(Sample.name(Sample.writer, version))],\
                        "metadata":{"topic":"rent"}}
                        """, after: ["createConversation"]))
        },
        Endpoint(
            .patch, "/apps/{app}/users/{user}/conversations/{conversation}",
            "Changes a conversation on behalf of a user.",
            .jsonBody { context, body in try await context.patchConversation(body) }
        ) { version, limits in
            Operation(
                "patchUserConversation", body: ConversationPatchJSON.schema(version, limits),
                fields: [.ifMatch, .prefer],
                answers: [
                    .noContent([.tag, .contentLocation]),
                    .represented(ConversationJSON.userSchema(version)),
                ], errors: [.participantBlocked],
                example: Example(
                    body: #"[{"operation":"set","property":"metadata.topic","value":"keys"}]"#))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/conversations/{conversation}",
            "Deletes a conversation for a user or for all participants.",
            .withoutBody { context in try await context.deleteConversation() }
        ) { _ in
            Operation(
                "deleteUserConversation",
                query: [
                    .deletionMode, .destruction,
                    Parameter(
                        "leave", .choice(["true", "false"]),
                        "Whether the user also leaves; false by default."),
                ],
                fields: [.ifMatch], answers: [.noContent([.contentLocation])],
                example: Example(query: [("mode", "my_devices"), ("leave", "true")]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/conversations/{conversation}/messages",
            "Sends a message on behalf of a user.", isKeyed: true,
            .jsonBody { context, body in try await context.sendMessage(body) }
        ) { version in
            Operation(
                "sendUserMessage", body: MessageDraftJSON.userSchema(version),
                answers: [
                    .created(MessageJSON.schema(version), [.tag, .location, .contentLocation])
                ],
                errors: [.idInUse],
                example: Example(
                    body: """
                        {"parts":[{"mime_type":"text/plain","body":"keys are under the mat"}]}
                        """))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/messages/{message}",
            "Deletes a message for a user or for all participants.",
            .withoutBody { context in try await context.deleteMessage() }
        ) { _ in
            Operation(
                "deleteUserMessage", query: [.deletionMode, .destruction], fields: [.ifMatch],
                answers: [.noContent],
                example: Example(query: [("mode", "all_participants")]))
        },
    ]
}

extension Parameter {
    /// The scope of a deletion by a user (client-api §4.1).
    fileprivate static let deletionMode = Parameter(
        "mode", .choice(["all_participants", "my_devices"]),
        "Whether to delete for all participants or, by default, for this user only.")

    /// The older name of a deletion for all participants.
    fileprivate static let destruction = Parameter(
        "destroy", .choice(["true", "false"]),
        "Without `mode`, `true` is the same as `mode=all_participants`.")
}
