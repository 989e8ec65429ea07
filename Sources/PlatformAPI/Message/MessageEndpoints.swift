import HTTP
import MessagingWire

extension Endpoint {
    /// The system's perspective on messages (platform-api §5.2).
    static let messages = [
        Endpoint(
            .post, "/apps/{app}/conversations/{conversation}/messages", "Sends a message.",
            isKeyed: true, .jsonBody { context, body in try await context.sendMessage(body) }
        ) { version in
            Operation(
                "sendMessage", body: MessageBatchJSON.sendingSchema(version),
                answers: [
                    .created(MessageJSON.schema(version), [.tag, .location, .contentLocation]),
                    .accepted(nil, [.contentLocation]),
                ],
                errors: [.objectDeleted, .idInUse],
                example: Example(
                    body: """
                        {\(Sample.sender(version)),"parts":[{"mime_type":"text/plain",\
                        "body":"keys are under the mat"}],\
                        "notification":{"text":"A message","sound":"ping.aiff"},\
                        "id":"\(Sample.message)"}
                        """))
        },
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/messages",
            "Lists messages, newest first.", isCompressed: true,
            .withoutBody { context in try await context.listMessages() }
        ) { version in
            Operation(
                "listMessages",
                query: Parameter.page(of: .messages) + Parameter.messageFilters + Parameter.inline
                    + Parameter.recipients
                    + Parameter.asOf,
                answers: [.list(of: MessageJSON.schema(version), [.contentLocation])],
                errors: [.objectDeleted, .invalidOperation, .positionGone],
                example: Example(query: [("page_size", "20")], after: ["sendMessage"]))
        },
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/messages/{message}",
            "Reads a message.", isCompressed: true,
            .cached { context in
                context.cachedMessageReply()
            } else: { context in
                try await context.readMessage()
            }
        ) { version in
            Operation(
                "readMessage",
                query: Parameter.inline + Parameter.include + Parameter.recipients + Parameter.asOf,
                fields: [.ifNoneMatch],
                answers: [.message(version), .notModified],
                errors: [.objectDeleted, .positionGone],
                example: Example(query: [("inline_max_size", "4096"), ("inline_types", "image/*")]))
        },
        Endpoint(
            .delete, "/apps/{app}/conversations/{conversation}/messages/{message}",
            "Deletes a message for all participants.",
            .withoutBody { context in try await context.deleteMessage() }
        ) { _ in
            Operation(
                "deleteMessage", fields: [.ifMatch], answers: [.noContent([.contentLocation])],
                errors: [.objectDeleted]
            )
        },
        Endpoint(
            .get, "/apps/{app}/messages/{message}", "Reads a message by its short address.",
            isCompressed: true,
            .cached { context in
                context.cachedMessageReply()
            } else: { context in
                try await context.readMessage()
            }
        ) { version in
            Operation(
                "readShortMessage",
                query: Parameter.inline + Parameter.include + Parameter.recipients + Parameter.asOf,
                fields: [.ifNoneMatch],
                answers: [.message(version), .notModified], errors: [.objectDeleted, .positionGone])
        },
        Endpoint(
            .delete, "/apps/{app}/messages/{message}", "Deletes a message by its short address.",
            .withoutBody { context in try await context.deleteMessage() }
        ) { _ in
            Operation(
                "deleteShortMessage", fields: [.ifMatch], answers: [.noContent],
                errors: [.objectDeleted])
        },
    ]
}

extension ResponseDescription {
    /// A message; the path may name its conversation by an alias.
    static func message(_ version: APIVersion) -> ResponseDescription {
        .ok(MessageJSON.schema(version), "The message.", [.tag, .contentLocation])
    }
}
