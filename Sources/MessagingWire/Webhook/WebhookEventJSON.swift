public import JSON
public import Messaging

/// The body of a webhook request and, in version 1.0, a line of a scheduled export (webhooks §4).
///
/// Receivers verify the signature of `JSON.stringify(JSON.parse(body))`, so members have the order of that
/// round trip: names that are array indices first, ascending (webhooks §3.2).
public enum WebhookEventJSON {
    /// Writes the object.
    ///
    /// - Parameter presentation: The system's, in the version whose form the body has.
    public static func write(
        _ event: WebhookEvent, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            if presentation.version.namesIdentities {
                writeEventAndActor(of: event, presentation, into: &writer)
            } else {
                writeEventOfFirstVersion(event, into: &writer)
            }
            write(event.subject, presentation, into: &writer)
        }
    }

    private static func write(
        _ subject: WebhookEvent.Subject, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        switch subject {
        case .message(let message):
            writer.key("message")
            WebhookMessageJSON.write(message, presentation, into: &writer)
        case .conversation(let conversation): write(conversation, presentation, into: &writer)
        case .merged(let conversation, let aliases):
            write(conversation, presentation, into: &writer)
            writer.key("aliases")
            writer.array { writer in
                for alias in aliases {
                    writer.string(IdentifierJSON.text(alias, in: .conversations))
                }
            }
        case .receipt(let kind, let range, let conversation):
            writer.key("conversation")
            WebhookMessageJSON.write(conversation, presentation.links, into: &writer)
            writer.key("receipt")
            write(kind, range, into: &writer)
        case .participation(let conversation, let changes):
            write(conversation, presentation, into: &writer)
            writer.key("changes")
            writer.array { writer in
                for identity in changes {
                    BasicIdentityJSON.write(
                        identity, url: presentation.links.webhookIdentity(identity.userID),
                        into: &writer)
                }
            }
        case .part(let part, let message, let conversation):
            writer.key("message_part")
            WebhookPartJSON.write(
                part, of: message, in: conversation, presentation, into: &writer)
            write(message, in: conversation, presentation, into: &writer)
        case .deletedPart(let removed, let message, let conversation):
            writer.key("message_part")
            WebhookPartJSON.write(removed, of: message, presentation, into: &writer)
            write(message, in: conversation, presentation, into: &writer)
        }
    }

    private static func write(
        _ conversation: ConversationSnapshot, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        writer.key("conversation")
        ConversationJSON(conversation).writeForWebhook(presentation, into: &writer)
    }

    /// Writes the ids of the message of a part (webhooks §4.2).
    private static func write(
        _ message: Message.ID, in conversation: Conversation.ID, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        writer.key("message")
        writer.object { writer in
            WebhookMessageJSON.writeNames(message, conversation, presentation, into: &writer)
        }
    }

    private static func write(
        _ kind: Receipts.Kind, _ range: ClosedRange<Int64>, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("type", kind == .read ? "Read" : "Delivery")
            writer.key("positions")
            writer.object { writer in
                writer.key("from")
                PositionJSON.write(Position(range.lowerBound), into: &writer)
                writer.key("to")
                PositionJSON.write(Position(range.upperBound), into: &writer)
            }
        }
    }
}

// MARK: - The members before the object (webhooks §4.1)

extension WebhookEventJSON {
    /// Writes `event`, with the actor inside, as version 1.0 has it.
    private static func writeEventOfFirstVersion(
        _ event: WebhookEvent, into writer: inout JSONWriter
    ) {
        writer.key("event")
        writer.object { writer in
            writer.member("created_at", TimestampJSON.text(event.at))
            writer.member("type", WebhookTopicJSON.text(event.topic, .v1_0))
            writer.member("id", event.id.uuid)
            // Version 1.0 has an actor only for events of messages.
            guard case .message = event.subject, let actor = event.actor else { return }
            writer.key("actor")
            writer.object { writer in
                switch actor {
                case .user(let user): writer.member("user_id", user.text)
                case .named(let name): writer.member("name", name)
                }
            }
        }
    }

    /// Writes `event`, then `actor`, as versions from 2.0 on have them.
    private static func writeEventAndActor(
        of event: WebhookEvent, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        writer.key("event")
        writer.object { writer in
            writer.member("id", event.id.uuid)
            writer.member("type", WebhookTopicJSON.text(event.topic, .v3_0))
            writer.member("created_at", TimestampJSON.text(event.at))
        }
        guard let actor = event.actor else { return }
        writer.key("actor")
        BasicIdentityJSON.writeForWebhook(
            actor, event.actorIdentity, presentation, into: &writer)
    }
}

/// The body of a test request, which no event causes (X6).
public enum WebhookTestJSON {
    /// The type of the event in all versions.
    public static let type = "webhook.test"

    /// Returns the body: JSON without white space, with the `config` of the webhook.
    public static func body(
        _ id: EventID, at moment: Timestamp, to webhook: Webhook
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.key("event")
            writer.object { writer in
                // In the order of webhooks §4.1.
                if webhook.payloadVersion == .v1_0 {
                    writer.member("created_at", TimestampJSON.text(moment))
                    writer.member("type", type)
                    writer.member("id", id.uuid)
                } else {
                    writer.member("id", id.uuid)
                    writer.member("type", type)
                    writer.member("created_at", TimestampJSON.text(moment))
                }
            }
            if let config = webhook.config {
                writer.key("config")
                WebhookConfigJSON.write(config, into: &writer)
            }
        }
        return writer.finish()
    }
}

extension WebhookEventJSON {
    /// The schema of the body of a webhook request for a topic in a version (webhooks §4).
    public static func schema(of topic: WebhookTopic, _ version: WebhookVersion) -> JSONSchema {
        body(WebhookTopicJSON.text(topic, version), version, payload(of: topic, version))
    }

    /// The schema of the body of a test request.
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
        of topic: WebhookTopic, _ version: WebhookVersion
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
        // There are no channels, so they have no events.
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
    /// The schema of an existing message, or of a deleted one as it was.
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
                .optional("recipient_counts", RecipientCounts.schema),
            ]
        if !isFirst { members.append(.required("position", .integer(0 ... .max))) }
        return .named("WebhookMessage", .object(members))
    }

    /// The schema of the ids of a message.
    fileprivate static let nameSchema = JSONSchema.named("WebhookMessageName", .object(names))

    /// The schema of the ids of a conversation.
    fileprivate static let conversationSchema = JSONSchema.object([
        .required("id", .identifier(.conversations)), .required("url", .url),
    ])

    private static let names: [JSONSchema.Member] = [
        .required("id", .identifier(.messages)), .required("url", .url),
        .required("conversation", conversationSchema),
    ]
}

extension WebhookPartJSON {
    /// The schema of a part with its body or its content.
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
    /// The schema of a conversation in webhook requests.
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
                .required("participants_count", .integer(0 ... .max)),
                .required("metadata", MetadataJSON.schema),
            ]))
    }
}
