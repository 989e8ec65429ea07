public import JSON
public import Messaging

extension WebhookEventJSON {
    /// The body of what a webhook of a version is sent of a topic (webhooks §4).
    public static func schema(of topic: Topic, _ version: WebhookVersion) -> JSONSchema {
        body(TopicJSON.text(topic, version), version, payload(of: topic, version))
    }

    /// The body of a test, of which nothing is told.
    public static func testSchema(_ version: WebhookVersion) -> JSONSchema {
        body(WebhookTestJSON.type, version, [])
    }

    private static func body(
        _ type: String, _ version: WebhookVersion, _ payload: [JSONSchema.Member]
    ) -> JSONSchema {
        var event: [JSONSchema.Member] = [
            .required("id", .uuid), .required("type", .choice([type])),
            .required("created_at", .time),
        ]
        var members: [JSONSchema.Member] = []
        if version == .v1_0 {
            event.append(.optional("actor", firstActor))
        } else {
            members.append(.optional("actor", BasicIdentityJSON.senderSchema(.v3_0)))
        }
        members = [.required("event", .object(event))] + members + payload
        members.append(.optional("config", WebhookConfigJSON.schema))
        return .named("Webhook.\(type)", .object(members))
    }

    private static let firstActor = JSONSchema.anyOf([
        .object([.required("user_id", UserIDJSON.bareSchema)]),
        .object([.required("name", .string)]),
    ])

    private static func payload(
        of topic: Topic, _ version: WebhookVersion
    ) -> [JSONSchema.Member] {
        let conversation = ConversationJSON.webhookSchema(version)
        return switch topic {
        case .messageSent, .messageDelivered, .messageRead, .messageUpdated:
            [.required("message", WebhookMessageJSON.schema(version))]
        case .messageDeleted:
            [
                .required(
                    "message",
                    .anyOf([WebhookMessageJSON.schema(version), WebhookMessageJSON.nameSchema]))
            ]
        case .receiptCreated:
            [
                .required("conversation", WebhookMessageJSON.conversationSchema),
                .required("receipt", receipt),
            ]
        case .partCreated, .partUpdated:
            [
                .required("message_part", WebhookPartJSON.schema(version)),
                .required("message", WebhookMessageJSON.nameSchema),
            ]
        case .partDeleted:
            [
                .required("message_part", .object([.required("id", .string)])),
                .required("message", WebhookMessageJSON.nameSchema),
            ]
        case .conversationCreated, .conversationDeleted, .metadataChanged, .participantsChanged:
            [.required("conversation", conversation)]
        case .conversationMerged:
            [
                .required("conversation", conversation),
                .required("aliases", .array(of: .identifier(.conversations))),
            ]
        case .participationCreated, .participationDeleted:
            [
                .required("conversation", conversation),
                .required("changes", .array(of: BasicIdentityJSON.schema(.v3_0), 1 ... .max)),
            ]
        // There are no channels, so nothing is told of them.
        case .channelCreated, .channelUpdated, .channelDeleted, .membershipCreated,
            .membershipDeleted:
            []
        }
    }

    private static let receipt = JSONSchema.object([
        .required("type", .choice(["Delivery", "Read"])),
        .required(
            "positions",
            .object([
                .required("from", .integer(0 ... .max)), .required("to", .integer(0 ... .max)),
            ])),
    ])
}

extension WebhookMessageJSON {
    /// A message that is there, or as it was.
    static func schema(_ version: WebhookVersion) -> JSONSchema {
        let isFirst = version == .v1_0
        var members =
            names + [
                .required(
                    "parts",
                    .array(of: WebhookPartJSON.schema(version), 1...Message.partLimit)),
                .required("sent_at", .time),
                .required("sender", BasicIdentityJSON.senderSchema(isFirst ? .v1_0 : .v3_0)),
                .required(
                    "recipient_status",
                    .object([], others: .choice(["sent", "delivered", "read"]))),
            ]
        if !isFirst { members.append(.required("position", .integer(0 ... .max))) }
        return .named("WebhookMessage", .object(members))
    }

    /// A message by its names.
    static let nameSchema = JSONSchema.named("WebhookMessageName", .object(names))

    /// A conversation by its names.
    static let conversationSchema = JSONSchema.object([
        .required("id", .identifier(.conversations)), .required("url", .url),
    ])

    private static let names: [JSONSchema.Member] = [
        .required("id", .identifier(.messages)), .required("url", .url),
        .required("conversation", conversationSchema),
    ]
}

extension WebhookPartJSON {
    /// A part with its body or its content.
    static func schema(_ version: WebhookVersion) -> JSONSchema {
        var members: [JSONSchema.Member] = [.required("id", .string)]
        if version != .v1_0 { members.append(.required("url", .url)) }
        members += [
            .required("mime_type", .string), .optional("body", .string),
            .optional("encoding", .choice(["base64"])), .optional("content", ContentJSON.schema),
        ]
        return .named("WebhookPart", .object(members))
    }
}

extension ConversationJSON {
    /// A conversation as webhooks show it.
    static func webhookSchema(_ version: WebhookVersion) -> JSONSchema {
        .named(
            "WebhookConversation",
            .object([
                .required("id", .identifier(.conversations)), .required("url", .url),
                .required("created_at", .time), .required("messages_url", .url),
                .required("distinct", .boolean),
                .required(
                    "participants",
                    .array(of: BasicIdentityJSON.schema(version == .v1_0 ? .v1_0 : .v3_0))),
                .required("metadata", MetadataJSON.schema),
            ]))
    }
}
