internal import Bytes
internal import SQL

extension MessagePart {
    /// The columns of parts.
    public static let columns = Columns()

    /// The order of the messages in a conversation, and of the parts in a message.
    public static func naturalOrder(_ columns: Columns) -> [Sort<MessagePart>] {
        [Sort(expression: "m.place", isDescending: false)]
    }

    /// The columns of parts.
    public struct Columns: Sendable {
        /// The id.
        public var id: Column<MessagePart, ID> {
            Column(
                Comparand(
                    expression: "lower(hex(p.message)) || '/' || p.name",
                    bound: { id in
                        "\(String(hexadecimal: id.message.bytes))/\(id.name)".sqlValue
                    },
                    lead: .init(
                        expression: "p.message", bound: { id in id.message.bytes.sqlValue })),
                sectionKey: { value in
                    if case .text(let text) = value { .text(text) } else { .missing }
                })
        }
        /// The message.
        public var message: Column<MessagePart, Message.ID> { Column("p.message", .message) }
        /// The conversation of the message, `nil` for parts of announcements. A former id stands for the conversation
        /// that remains.
        public var conversation: Column<MessagePart, Conversation.ID?> {
            Column("m.conversation", optional: .conversation, isCommon: true)
        }
        /// The place in the message: 0, 1, 2 …
        public var index: Column<MessagePart, Int> { Column("p.part", .int) }
        /// The MIME type, such as `text/plain`.
        public var mimeType: Column<MessagePart, String> { Column("p.mime_type", .text) }
        /// The size in bytes.
        public var size: Column<MessagePart, Int64> { Column("p.size", .int64) }
        /// Where the bytes are.
        public var transferStatus: Column<MessagePart, TransferStatus> {
            var comparand = Comparand<MessagePart, TransferStatus>("p.status", .status)
            comparand.rare = MessagePart.rareStatuses()
            return Column(comparand, sectionKey: ColumnType<TransferStatus>.status.sectionKey)
        }
    }

    /// Whether a part is not complete: the condition of the index of statuses, as a statement must have it to use it.
    static let isIncomplete: SQL = "p.status < 4"

    /// Nearly all parts are complete.
    static func rareStatuses<Element: Queryable>() -> Comparand<Element, TransferStatus>.Rare {
        .init(condition: isIncomplete) { comparison, status in
            !comparison.isTrue(.complete, status)
        }
    }

    /// Where the store has parts.
    public static let rows = StoredRows<MessagePart>(
        source: "parts p JOIN messages m ON m.id = p.message",
        isShown: Message.isShown,
        isShownInConversation: { id in Message.isShown(in: id) },
        idColumns: "p.message AS id, m.conversation IS NULL AS is_announcement, p.name AS name",
        readID: { row in ID(try row.text("name"), of: try Message.id(of: row)) },
        tieBreaks: ["p.message", "p.part"],
        tables: [.messages],
        read: { reader, ids in
            let parts = try reader.parts(of: Array(Set(ids.map(\.message))))
            return ids.compactMap { id in parts[id.message]?.first { part in part.id == id } }
        },
        differences: [
            "mimeType": { $0.mimeType != $1.mimeType },
            "size": { $0.size != $1.size },
            "inline": { $0.inline != $1.inline },
            "transferStatus": { $0.transferStatus != $1.transferStatus },
        ])
}
