public import FoundationEssentials
internal import SQL

extension Conversation {
    /// The columns of conversations.
    public static let columns = Columns()

    /// The conversation with the newest message first; one without messages counts as its creation.
    public static func naturalOrder(_ columns: Columns) -> [Sort<Conversation>] {
        [Sort(expression: "c.active_at", isDescending: true)]
    }

    /// The columns of conversations.
    public struct Columns: Sendable {
        /// The id. A former one stands for the conversation that remains.
        public var id: Column<Conversation, ID> { Column("c.id", .conversation) }
        /// The participants.
        public var participants: ParticipantsColumn { ParticipantsColumn() }
        /// When the server created it; `nil` before.
        public var createdAt: Column<Conversation, Date?> {
            Column("c.created_at", optional: .date)
        }
        /// The last message on this device.
        public var lastMessage: LastMessageColumns { LastMessageColumns() }
        /// Whether there is an unread message.
        public var hasUnreadMessages: Column<Conversation, Bool> {
            Column("(c.unread_count > 0)", .flag)
        }
        /// Messages that the user has not read.
        public var unreadCount: Column<Conversation, Int> { Column("c.unread_count", .int) }
        /// Whether it is the one conversation of exactly these participants.
        public var isDistinct: Column<Conversation, Bool> { Column("c.is_distinct", .flag) }
        /// Whether the user is a participant.
        public var isParticipant: Column<Conversation, Bool> { Column("c.is_participant", .flag) }
        /// The metadata: `$0.metadata["board.color"] == "red"`.
        public var metadata: MetadataColumns<Conversation> {
            MetadataColumns { path in
                "(SELECT d.text FROM metadata d WHERE d.conversation = c.id AND d.path = \(path.dotted))"
            }
        }
    }

    /// The columns of the last message of a conversation.
    public struct LastMessageColumns: Sendable {
        /// The id; `nil` without a message.
        public var id: Column<Conversation, Message.ID?> {
            Column(Self.select("l.id"), optional: .message)
        }
        /// When the server received it; before, when it was sent on this device.
        public var sentAt: Column<Conversation, Date?> {
            Column(Self.select("l.sent_at"), optional: .date)
        }
        /// When it reached the user.
        public var receivedAt: Column<Conversation, Date?> {
            Column(Self.select("l.received_at"), optional: .date)
        }

        private static func select(_ column: SQL) -> SQL {
            "(SELECT \(column) FROM messages l WHERE l.id = c.last_message AND l.is_hidden = 0)"
        }
    }

    /// Where the store has conversations.
    public static let rows = StoredRows<Conversation>(
        source: "conversations c",
        // SQLite, which keeps no statistics here, would prefer the index of all that are shown to those of participants.
        isShown: "likely(c.is_hidden = 0)",
        idColumns: "c.id AS id",
        readID: { row in
            let bytes = try row.blob("id")
            guard let id = Conversation.ID(stored: bytes) else { throw damagedID(bytes) }
            return id
        },
        tieBreaks: ["c.id"],
        // A conversation has its last message, and the identities of its participants.
        tables: [.conversations, .messages, .identities],
        read: { reader, ids in try reader.conversations(ids) },
        differences: [
            "formerIDs": { $0.formerIDs != $1.formerIDs },
            "participants": { $0.participants != $1.participants },
            "isParticipant": { $0.isParticipant != $1.isParticipant },
            "isDistinct": { $0.isDistinct != $1.isDistinct },
            "metadata": { $0.metadata != $1.metadata },
            "createdAt": { $0.createdAt != $1.createdAt },
            "lastMessage": { $0.lastMessage != $1.lastMessage },
            "unreadCount": { $0.unreadCount != $1.unreadCount },
            "hasUnreadMessages": { $0.hasUnreadMessages != $1.hasUnreadMessages },
            "totalCount": { $0.totalCount != $1.totalCount },
            "isCreated": { $0.isCreated != $1.isCreated },
        ],
        metadata: { conversation in conversation.metadata })
}

/// The participants of a conversation, in filters.
public struct ParticipantsColumn: Sendable {
    /// Whether the participants are these users and the user of the client.
    public static func == (column: Self, users: Set<UserID>) -> Filter<Conversation> {
        Filter(
            .test(fixing: nil) { context in
                let set = StoreTransaction.participantSet(Array(users) + [context.user])
                return "c.participant_set = \(set)"
            })
    }

    /// Whether the participants are others than these users and the user of the client.
    public static func != (column: Self, users: Set<UserID>) -> Filter<Conversation> {
        !(column == users)
    }

    /// Whether a user is one of the participants.
    public func contains(_ user: UserID) -> Filter<Conversation> {
        Filter(
            .test(fixing: nil) { _ in
                "c.id IN (SELECT u.conversation FROM participants u WHERE u.user = \(user.text))"
            })
    }
}

/// Texts of metadata, by their paths.
public struct MetadataColumns<Element: Queryable>: Sendable {
    let select: @Sendable (MetadataPath) -> SQL

    /// The text at a path; `nil` if there is none, or an object.
    ///
    /// A query with an invalid path throws `invalidMetadata`.
    public subscript(path: MetadataPath) -> Column<Element, String?> {
        let (expression, type) = (select(path), ColumnType<String>.text.optional)
        var comparand = Comparand<Element, String?>(
            expression, type, presence: "\(expression) IS NOT NULL")
        do throws(ParleyError) { try path.check() } catch { comparand.invalid = error }
        return Column(comparand, sectionKey: type.sectionKey)
    }
}

extension MetadataPath {
    /// The keys, separated by dots.
    var dotted: String { keys.joined(separator: ".") }
}

/// The error of a row whose id is none.
func damagedID(_ bytes: [UInt8]) -> ParleyError {
    ParleyError(.storeCorrupt, "A row of the store has an id of \(bytes.count) bytes; ids have 16.")
}
