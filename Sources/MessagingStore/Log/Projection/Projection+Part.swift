import Messaging
import SQL

extension Projection {
    /// A content nobody needs any more goes with the part that showed it (R24).
    func apply(_ change: PartsChanged) throws {
        if let before = try transaction.message(change.message, in: application) { keep(before) }
        let gone = change.removed.map(\.index)
        let contents = try contents(of: change.message, at: gone + change.updated.map(\.index))
        for index in gone {
            try transaction.execute(
                """
                DELETE FROM parts
                WHERE application = \(application) AND message = \(change.message)
                    AND part_index = \(index)
                """)
        }
        for part in change.updated { try update(part, of: change) }
        for part in change.created {
            try insert(part, of: change.message, in: change.conversation)
        }
        for (place, index) in (change.order ?? []).enumerated() {
            try move(index, to: Int64(place), in: change.message)
        }
        try release(contents)
        try transaction.execute(
            """
            UPDATE messages SET
                updated_at = \(change.at), parts_made = \(change.made), version = version + 1,
                weight = (
                    SELECT CAST(SUM(
                        COALESCE(LENGTH(p.body), 0) + LENGTH(p.mime_type) + \(MessagePart.frame)
                    ) AS BIGINT) FROM parts p
                    WHERE p.application = messages.application AND p.message = messages.id
                )
            WHERE application = \(application) AND id = \(change.message)
            """)
    }

    func insert(
        _ part: MessagePart, of message: Message.ID, in conversation: Conversation.ID
    ) throws {
        let (body, content) = part.columns
        transaction.add(
            """
            (\(application), \(message), \(part.index), \(part.id), \(part.mimeType), \(body),
            \(content), \(part.size), \(part.updatedAt))
            """,
            to: "parts", key: application.bytes + message.bytes,
            by: Insertion(
                """
                INSERT INTO parts (
                    application, message, part_index, id, mime_type, body, content, size, updated_at
                ) VALUES
                """))
        try use(content, in: conversation)
    }

    private func update(_ part: MessagePart, of change: PartsChanged) throws {
        let (body, content) = part.columns
        try transaction.execute(
            """
            UPDATE parts SET
                mime_type = \(part.mimeType), body = \(body), content = \(content),
                size = \(part.size), updated_at = \(part.updatedAt)
            WHERE application = \(application) AND message = \(change.message)
                AND part_index = \(part.index)
            """)
        try use(content, in: change.conversation)
    }

    /// New parts come behind: their number is above every place.
    func move(_ index: Int, to place: Int64, in message: Message.ID) throws {
        try transaction.execute(
            """
            UPDATE parts SET place = \(place)
            WHERE application = \(application) AND message = \(message)
                AND part_index = \(index)
            """)
    }

    /// The contents some parts show now, each as often as they do.
    private func contents(of message: Message.ID, at indexes: [Int]) throws -> [Content.ID] {
        guard !indexes.isEmpty else { return [] }
        let shown = try transaction.rows(
            """
            SELECT part_index, content FROM parts
            WHERE application = \(application) AND message = \(message)
                AND content IS NOT NULL
            """
        ) { row in (index: try row.int(0), content: try row.id(1) as Content.ID) }
        let asked = Set(indexes)
        return shown.filter { part in asked.contains(part.index) }.map(\.content)
    }
}

extension MessagePart {
    /// What its row holds: bytes, or the content that has them.
    fileprivate var columns: (body: [UInt8]?, content: Content.ID?) {
        switch body {
        case .inline(let bytes): (bytes, nil)
        case .content(let content, _): (nil, content)
        }
    }
}
