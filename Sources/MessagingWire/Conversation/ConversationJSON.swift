public import JSON
public import Messaging

/// A conversation as answers show it, in all versions and perspectives (platform-api §3.2).
public struct ConversationJSON: Equatable, Sendable {
    /// The members that only a user's view has.
    public struct UserView: Equatable, Sendable {
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

    /// The members that `include=details` adds (X17).
    private struct Details: Equatable {
        /// The number of messages, without deleted ones.
        let messageCount: Int64
        /// When the last message was sent; `nil` if there was none.
        let lastSentAt: Timestamp?
        /// The metadata with the time of its last write in the place of each text.
        let metadataWrites: MetadataTree
    }

    /// The members that only a conversation of a feed has (Y1).
    public struct FeedMembers: Equatable, Sendable {
        /// The id of the last visible message; `nil` if there is none.
        public let lastMessage: Message.ID?
        /// Visible messages the user has not read (R79).
        public let unreadCount: Int64
        /// The messages this user can see (ruling 17).
        public let totalCount: Int64
        /// The ids of conversations that were merged into this one.
        public let aliases: [Conversation.ID]
        /// The highest position of the view.
        public let top: Position
        /// The position from which on no message is missing.
        public let windowFrom: Position
        /// The position up to which the user has deleted all messages.
        public let clearedTo: Position

        /// All members.
        public init(
            lastMessage: Message.ID?, unreadCount: Int64, totalCount: Int64,
            aliases: [Conversation.ID], top: Position, windowFrom: Position, clearedTo: Position
        ) {
            self.lastMessage = lastMessage
            self.unreadCount = unreadCount
            self.totalCount = totalCount
            self.aliases = aliases
            self.top = top
            self.windowFrom = windowFrom
            self.clearedTo = clearedTo
        }
    }

    /// Its id.
    public let id: Conversation.ID
    /// When it was created.
    public let createdAt: Timestamp
    /// The participants in order; empty for a former participant.
    public let participants: [BasicIdentity]
    /// The number of participants, also of those that a wide conversation does not list (ruling 38).
    public let participantCount: Int
    /// Whether it is the one conversation of exactly these participants (R3).
    public let isDistinct: Bool
    /// The metadata.
    public let metadata: MetadataTree
    /// The members of a user's view; `nil` in the system's perspective.
    private let userView: UserView?
    /// The members of `include=details`; `nil` without it.
    private var details: Details?
    /// The members of a feed; `nil` elsewhere.
    public private(set) var feedMembers: FeedMembers?
    /// The members that are the same for all users, as an object that was written before.
    private var written: [UInt8]?

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
        writer.object { writer in
            if let written {
                writer.raw(written.dropFirst().dropLast())
            } else {
                writeMembers(presentation, into: &writer)
            }
            if let userView { write(userView, presentation, into: &writer) }
            if let details { write(details, into: &writer) }
            if let feedMembers { write(feedMembers, into: &writer) }
        }
    }

    /// Writes the members that are the same for all users.
    private func writeMembers(_ presentation: Presentation, into writer: inout JSONWriter) {
        let url = presentation.links.conversation(id)
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
    }

    private func write(_ details: Details, into writer: inout JSONWriter) {
        writer.member("total_message_count", details.messageCount)
        writer.key("last_message_sent_at")
        if let moment = details.lastSentAt {
            writer.string(TimestampJSON.text(moment))
        } else {
            writer.null()
        }
        writer.key("metadata_written_at")
        MetadataJSON.write(details.metadataWrites, into: &writer)
    }

    private func write(_ feed: FeedMembers, into writer: inout JSONWriter) {
        writer.key("last_message")
        if let message = feed.lastMessage {
            writer.string(IdentifierJSON.text(message, in: .messages))
        } else {
            writer.null()
        }
        writer.member("unread_message_count", feed.unreadCount)
        writer.member("total_message_count", feed.totalCount)
        writer.key("aliases")
        writer.array { writer in
            for alias in feed.aliases {
                writer.string(IdentifierJSON.text(alias, in: .conversations))
            }
        }
        writer.member("top", feed.top.number)
        writer.member("window_from", feed.windowFrom.number)
        writer.member("cleared_to", feed.clearedTo.number)
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

    /// A conversation as the system reads it, with the members of `include=details`.
    public static func detailedSchema(_ version: APIVersion) -> JSONSchema {
        .named(
            "DetailedConversation",
            .object(
                members(version) + [
                    .optional("total_message_count", .integer(0 ... .max)),
                    .optional("last_message_sent_at", JSONSchema.time.orNull),
                    .optional("metadata_written_at", MetadataJSON.schema),
                ]))
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

    /// A conversation of a feed (Y1).
    static let feedSchema = JSONSchema.named(
        "FeedConversation",
        .object(
            members(.v3_0) + [
                .required("last_message", JSONSchema.identifier(.messages).orNull),
                .required("unread_message_count", .integer(0 ... .max)),
                .required("total_message_count", .integer(0 ... .max)),
                .required("aliases", .array(of: .identifier(.conversations))),
                .required("top", .integer(0 ... .max)),
                .required("window_from", .integer(1 ... .max)),
                .required("cleared_to", .integer(0 ... .max)),
            ]))

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
    ///
    /// - Parameter isDetailed: Whether the members of `include=details` are written.
    public init(_ snapshot: ConversationSnapshot, isDetailed: Bool = false) {
        let conversation = snapshot.conversation
        self.init(
            id: conversation.id, createdAt: conversation.createdAt,
            participants: snapshot.participants,
            participantCount: conversation.participantCount, isDistinct: conversation.isDistinct,
            metadata: conversation.metadata.view)
        guard isDetailed else { return }
        details = Details(
            messageCount: conversation.messageCount, lastSentAt: conversation.lastSentAt,
            metadataWrites: conversation.metadata.view { _, moment in TimestampJSON.text(moment) })
    }

    /// A conversation of a feed.
    ///
    /// - Parameter members: As returned by ``members(of:_:)``.
    public init(_ view: ConversationView, _ feed: FeedMembers, members: [UInt8]) {
        self.init(bare: view)
        feedMembers = feed
        written = members
    }

    /// The members of a conversation that are the same for all of its users that see the same participants, as an object.
    public static func members(
        of view: ConversationView, _ presentation: Presentation
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(bare: view).write(presentation, into: &writer)
        return writer.finish()
    }

    private init(bare view: ConversationView) {
        self.init(
            id: view.id, createdAt: view.createdAt, participants: view.participants,
            participantCount: view.participantCount, isDistinct: view.isDistinct,
            metadata: view.metadata)
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

extension ConversationJSON {
    /// Reads a conversation of a feed in version 3.0 (Y1), as ``write(_:into:)`` writes it.
    ///
    /// - Returns: `nil` if a member is missing or invalid; unknown members are ignored.
    public static func readFeed(_ object: JSONValue) -> ConversationJSON? {
        guard let id: Conversation.ID = IdentifierJSON.read(object["id"], in: .conversations),
            let createdAt = TimestampJSON.read(object["created_at"]),
            let participants = object["participants"].flatMap(BasicIdentityJSON.readList),
            let isDistinct = object["distinct"]?.bool,
            let metadata = object["metadata"].flatMap(MetadataJSON.read),
            let feed = FeedMembers(object)
        else { return nil }
        var conversation = ConversationJSON(
            id: id, createdAt: createdAt, participants: participants,
            participantCount: object["participants_count"]?.integer.flatMap(Int.init(exactly:))
                ?? participants.count,
            isDistinct: isDistinct, metadata: metadata)
        conversation.feedMembers = feed
        return conversation
    }
}

extension ConversationJSON.FeedMembers {
    fileprivate init?(_ object: JSONValue) {
        guard let unread = FeedNumber.read(object["unread_message_count"]),
            let total = FeedNumber.read(object["total_message_count"]),
            let aliases = object["aliases"], aliases.kind == .array,
            let top = FeedNumber.read(object["top"]),
            let windowFrom = FeedNumber.read(object["window_from"]),
            let clearedTo = FeedNumber.read(object["cleared_to"])
        else { return nil }
        var ids: [Conversation.ID] = []
        for alias in aliases.elements {
            guard let id: Conversation.ID = IdentifierJSON.read(alias, in: .conversations) else {
                return nil
            }
            ids.append(id)
        }
        self.init(
            lastMessage: IdentifierJSON.read(object["last_message"], in: .messages),
            unreadCount: unread, totalCount: total, aliases: ids, top: Position(top),
            windowFrom: Position(windowFrom), clearedTo: Position(clearedTo))
    }
}
