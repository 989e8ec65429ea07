public import JSON
public import Messaging

/// What a participant has received and read of a conversation: the item of a feed (Y1) with the positions at which the
/// user was a participant.
public enum ParticipantStatusJSON {
    /// Writes the object.
    public static func write(
        _ receipts: Receipts, of user: UserID, presentAt presence: IntervalSet,
        in conversation: Conversation.ID, into writer: inout JSONWriter
    ) {
        let item = FeedItemJSON.receipts(conversation, user, receipts)
        writer.object { writer in
            writer.member("type", item.type)
            writer.member("id", item.id)
            writer.key("data")
            writer.object { writer in
                FeedItemJSON.writeReceipts(receipts, of: user, in: conversation, into: &writer)
                writer.member("present", presence.text)
            }
        }
    }

    /// The schema of the object.
    public static let schema = JSONSchema.named(
        "ParticipantReceipts",
        .object([
            .required("type", .choice(["receipts"])), .required("id", .string),
            .required(
                "data",
                .object(
                    FeedItemJSON.receiptMembers + [
                        .required(
                            "present",
                            JSONSchema.string.withDescription(
                                "The positions at which the user was a participant."))
                    ])),
        ]))
}

/// The other ids of a conversation (X1.2).
public enum ConversationAliasJSON {
    /// Writes the object of an alias.
    public static func write(
        _ alias: Conversation.ID, since moment: Timestamp, at position: LogPosition,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(alias, in: .conversations))
            writer.member("merged_at", TimestampJSON.text(moment))
            writer.member("position", position.number)
        }
    }

    /// The schema of the object.
    public static let schema = JSONSchema.named(
        "ConversationAlias",
        .object([
            .required("id", .identifier(.conversations)),
            .required("merged_at", .time),
            .required(
                "position",
                JSONSchema.integer(1 ... .max).withDescription(
                    "The position of the event that made it an alias.")),
        ]))
}
