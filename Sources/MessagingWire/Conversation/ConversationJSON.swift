public import JSON
public import Messaging

/// A conversation as answers show it, in all versions and perspectives (platform-api §3.2).
public struct ConversationJSON: Sendable {
    /// The members that only a user's view has.
    public struct UserView: Sendable {
        /// The visible message with the highest position (R27); `nil` if there is none.
        fileprivate let lastMessage: MessageJSON?
        /// Visible messages the user has not read (R79).
        fileprivate let unreadCount: Int64
        /// The messages this user can see (ruling 17).
        fileprivate let totalCount: Int64

        /// The members of a user's view.
        public init(lastMessage: MessageJSON?, unreadCount: Int64, totalCount: Int64) {
            self.lastMessage = lastMessage
            self.unreadCount = unreadCount
            self.totalCount = totalCount
        }
    }

    private let id: Conversation.ID
    private let createdAt: Timestamp
    /// The participants in order; empty for a former participant.
    private let participants: [BasicIdentity]
    /// The number of participants, also of those that a wide conversation does not list (ruling 38).
    private let participantCount: Int
    /// Whether it is the one conversation of exactly these participants (R3).
    private let isDistinct: Bool
    private let metadata: MetadataTree
    /// The members of a user's view; `nil` in the system's perspective.
    private let userView: UserView?

    /// A conversation to show.
    public init(
        id: Conversation.ID, createdAt: Timestamp, participants: [BasicIdentity],
        participantCount: Int, isDistinct: Bool, metadata: MetadataTree, userView: UserView? = nil
    ) {
        self.id = id
        self.createdAt = createdAt
        self.participants = participants
        self.participantCount = participantCount
        self.isDistinct = isDistinct
        self.metadata = metadata
        self.userView = userView
    }

    /// Writes the object.
    public func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        let url = presentation.links.conversation(id)
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(id, in: .conversations))
            writer.member("url", url)
            writer.member("messages_url", "\(url)/messages")
            writer.member("created_at", TimestampJSON.text(createdAt))
            writer.key("participants")
            writer.array { writer in
                for identity in participants {
                    BasicIdentityJSON.write(
                        identity, presentation.version, presentation.links, into: &writer)
                }
            }
            writer.member("participants_count", Int64(participantCount))
            writer.member("distinct", isDistinct)
            writer.key("metadata")
            MetadataJSON.write(metadata, into: &writer)
            if let userView { write(userView, presentation, into: &writer) }
        }
    }

    private func write(
        _ userView: UserView, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        writer.key("last_message")
        if let message = userView.lastMessage {
            message.write(presentation, into: &writer)
        } else {
            writer.null()
        }
        writer.member("unread_message_count", userView.unreadCount)
        if presentation.version.namesIdentities {
            writer.member("total_message_count", userView.totalCount)
        }
    }
}

extension ConversationJSON {
    /// A conversation as the system sees it.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named("Conversation", .object(members(version)))
    }

    /// A conversation as a user sees it.
    public static func userSchema(_ version: APIVersion) -> JSONSchema {
        var members = members(version)
        members.append(.required("last_message", MessageJSON.schema(version).orNull))
        members.append(.required("unread_message_count", .integer(0 ... .max)))
        if version.namesIdentities {
            members.append(.required("total_message_count", .integer(0 ... .max)))
        }
        return .named("UserConversation", .object(members))
    }

    private static func members(_ version: APIVersion) -> [JSONSchema.Member] {
        [
            .required("id", .identifier(.conversations)),
            .required("url", .url),
            .required("messages_url", .url),
            .required("created_at", .time),
            .required("participants", .array(of: BasicIdentityJSON.schema(version))),
            .required("participants_count", .integer(0 ... .max)),
            .required("distinct", .boolean),
            .required("metadata", MetadataJSON.schema),
        ]
    }
}

extension ConversationJSON {
    /// Writes the object as webhooks show it, with its members in their order (webhooks §4.3).
    func writeForWebhook(_ presentation: Presentation, into writer: inout JSONWriter) {
        let links = presentation.links
        let url = links.conversation(id)
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(id, in: .conversations))
            writer.member("url", url)
            writer.member("created_at", TimestampJSON.text(createdAt))
            writer.member("messages_url", "\(url)/messages")
            writer.member("distinct", isDistinct)
            writer.key("participants")
            writer.array { writer in
                for identity in participants {
                    if presentation.version.namesIdentities {
                        BasicIdentityJSON.write(
                            identity, url: links.webhookIdentity(identity.userID), into: &writer)
                    } else {
                        writer.string(identity.userID.text)
                    }
                }
            }
            writer.member("participants_count", Int64(participantCount))
            writer.key("metadata")
            MetadataJSON.write(metadata.inMemberOrder, into: &writer)
        }
    }
}

extension ConversationJSON {
    /// A conversation as the system sees it.
    public init(_ snapshot: ConversationSnapshot) {
        let conversation = snapshot.conversation
        self.init(
            id: conversation.id, createdAt: conversation.createdAt,
            participants: snapshot.participants,
            participantCount: conversation.participantCount, isDistinct: conversation.isDistinct,
            metadata: conversation.metadata.view)
    }

    /// A conversation as a user sees it.
    public init(_ view: ConversationView) {
        self.init(
            id: view.id, createdAt: view.createdAt, participants: view.participants,
            participantCount: view.participantCount, isDistinct: view.isDistinct,
            metadata: view.metadata,
            userView: UserView(
                lastMessage: view.lastMessage.map { message in MessageJSON(message) },
                unreadCount: view.unreadCount, totalCount: view.totalCount))
    }
}
