public import FoundationEssentials
internal import SQL

extension Message {
    /// The columns of messages.
    public static let columns = Columns()

    /// The order of sending in a conversation; unsent messages last.
    public static func naturalOrder(_ columns: Columns) -> [Sort<Message>] {
        [Sort(expression: "m.place", isDescending: false, isUniqueInConversation: true)]
    }

    /// The columns of messages and announcements.
    public struct Columns: Sendable {
        /// The id.
        public var id: Column<Message, ID> { Column("m.id", .message) }
        /// The conversation, `nil` for announcements. A former id stands for the conversation that remains.
        public var conversation: Column<Message, Conversation.ID?> {
            Column("m.conversation", optional: .conversation, isCommon: true)
        }
        /// The place in the conversation: 1, 2, 3 …; `nil` for an announcement and before the server has it.
        ///
        /// A sort has unsent messages after all others, in the order of sending.
        public var position: Column<Message, Int64?> {
            let type = ColumnType<Int64>.int64.optional
            // Places are the positions of sent messages, and have the index.
            return Column(
                Comparand("m.place", type, presence: "m.position IS NOT NULL"),
                shownValue: "m.position", sectionKey: type.sectionKey)
        }
        /// Whether the server has it.
        public var isSent: Column<Message, Bool> { Column("m.is_sent", .flag) }
        /// Whether the user has still to read it.
        public var isUnread: Column<Message, Bool> { Column("m.is_unread", .flag) }
        /// When the server received it; before, when it was sent on this device.
        public var sentAt: Column<Message, Date?> { Column("m.sent_at", optional: .date) }
        /// When it reached the user.
        public var receivedAt: Column<Message, Date?> { Column("m.received_at", optional: .date) }
        /// The sender.
        public var sender: SenderColumns { SenderColumns() }
        /// The parts; a comparison finds messages with *some* part of which it is true.
        public var parts: PartsColumns { PartsColumns() }
    }

    /// The columns of the sender of a message.
    public struct SenderColumns: Sendable {
        /// The id of the user; `nil` for a service.
        public var userID: Column<Message, UserID?> { Column("m.sender", optional: .user) }
        /// The name of a service; `nil` for a user.
        public var name: Column<Message, String?> {
            Column(
                "CASE WHEN m.sender IS NULL THEN coalesce(m.sender_name, '') END", optional: .text)
        }
        /// The name to show: the display name of a user, or the name of a service.
        public var displayName: Column<Message, String?> {
            Column(
                """
                CASE WHEN m.sender IS NULL THEN coalesce(m.sender_name, '')
                ELSE (SELECT i.display_name FROM identities i WHERE i.user = m.sender) END
                """, optional: .text)
        }
    }

    /// The columns of the parts of a message.
    public struct PartsColumns: Sendable {
        /// The MIME type, such as `text/plain`.
        public var mimeType: PartsColumn<String> { part("p.mime_type", .text) }
        /// The size in bytes.
        public var size: PartsColumn<Int64> { part("p.size", .int64) }
        /// Where the bytes are.
        public var transferStatus: PartsColumn<TransferStatus> {
            var comparand = Comparand<Message, TransferStatus>("p.status", .status, isOfParts: true)
            comparand.rare = MessagePart.rareStatuses()
            return PartsColumn(comparand: comparand)
        }
        /// The text of an inline part whose type is `text/…`; `nil` for others.
        public var text: PartsColumn<String?> {
            let isText: SQL = "p.body IS NOT NULL AND p.mime_type LIKE 'text/%'"
            return PartsColumn(
                comparand: Comparand(
                    "CAST(p.body AS TEXT)", ColumnType<String>.text.optional, presence: isText,
                    isOfParts: true))
        }

        private func part<Value>(_ column: SQL, _ type: ColumnType<Value>) -> PartsColumn<Value> {
            PartsColumn(comparand: Comparand(column, type, isOfParts: true))
        }
    }

    /// Where the store has messages.
    public static let rows = StoredRows<Message>(
        source: "messages m",
        isShown: isShown,
        isShownInConversation: { id in isShown(in: id) },
        countInConversation: { id in
            """
            SELECT shown AS number FROM message_counts
            WHERE conversation = \(id.bytes) AND NOT \(isHidden(id))
            """
        },
        idColumns: "m.id AS id, m.conversation IS NULL AS is_announcement",
        readID: { row in try id(of: row) },
        tieBreaks: ["m.id"],
        // A message has the identity of its sender.
        tables: [.messages, .identities],
        read: { reader, ids in try reader.messages(ids) },
        differences: [
            "conversation": { $0.conversation != $1.conversation },
            "position": { $0.position != $1.position },
            "sender": { $0.sender != $1.sender },
            "parts": { $0.parts != $1.parts },
            "sentAt": { $0.sentAt != $1.sentAt },
            "receivedAt": { $0.receivedAt != $1.receivedAt },
            "isUnread": { $0.isUnread != $1.isUnread },
            "isSent": { $0.isSent != $1.isSent },
            "delivery": { $0.delivery != $1.delivery },
            "recipientStatus": { $0.recipientStatus != $1.recipientStatus },
        ],
        position: { message in message.position })

    /// Whether a message is shown: not those of a hidden conversation either.
    static let isShown: SQL = """
        m.is_hidden = 0 AND (m.conversation IS NULL
            OR m.conversation NOT IN (SELECT h.id FROM conversations h WHERE h.is_hidden = 1))
        """

    /// Whether a message of a conversation is shown.
    static func isShown(in conversation: Conversation.ID) -> SQL {
        "m.is_hidden = 0 AND NOT \(isHidden(conversation))"
    }

    private static func isHidden(_ conversation: Conversation.ID) -> SQL {
        "EXISTS (SELECT 1 FROM conversations h WHERE h.id = \(conversation.bytes) AND h.is_hidden = 1)"
    }

    /// The id in the columns `id` and `is_announcement`.
    static func id(of row: borrowing Row) throws -> ID {
        let bytes = try row.blob("id")
        guard let id = ID(stored: bytes) else { throw damagedID(bytes) }
        return ID(id.value, isAnnouncement: try row.bool("is_announcement"))
    }
}
