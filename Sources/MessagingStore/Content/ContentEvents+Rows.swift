import Messaging
import SQL

extension Projection {
    /// Inserts a content, and adds its size to the stored bytes of the application.
    func insert(_ content: Content) throws {
        try transaction.execute(
            """
            INSERT INTO contents (
                application, id, conversation, mime_type, size, file_name, sha256, crc32c, md5,
                sha512, completed_at, origin
            ) VALUES (
                \(application), \(content.id), \(content.conversation), \(content.mimeType),
                \(content.size), \(content.fileName), \(content.sha256),
                \(Int64(content.crc32c)), \(content.md5), \(content.sha512),
                \(content.completedAt), \(content.origin)
            )
            """)
        try addStoredBytes(content.size)
    }

    /// Sets the user that uploaded a content.
    func own(_ content: Content.ID, _ user: UserID) throws {
        try transaction.execute(
            """
            UPDATE contents SET uploader = \(user)
            WHERE application = \(application) AND id = \(content)
            """)
    }

    /// Counts a use of a content by a part or a scheduled message. The first use assigns a content without a
    /// conversation to its conversation (ruling 18).
    func use(_ content: Content.ID?, in conversation: Conversation.ID) throws {
        guard let content else { return }
        try transaction.execute(
            """
            UPDATE contents SET
                use_count = use_count + 1, conversation = COALESCE(conversation, \(conversation))
            WHERE application = \(application) AND id = \(content)
            """)
        try transaction.execute(
            """
            INSERT INTO shared_contents (application, content, conversation, use_count)
            SELECT application, id, \(conversation), 1 FROM contents
            WHERE application = \(application) AND id = \(content)
                AND conversation <> \(conversation)
            ON CONFLICT (application, content, conversation) DO UPDATE SET
                use_count = shared_contents.use_count + 1
            """)
    }

    /// Counts one use less of a content in a conversation for each time it occurs, and drops contents that are no longer
    /// used (R24).
    func release(_ contents: [Content.ID], in conversation: Conversation.ID) throws {
        guard !contents.isEmpty else { return }
        for content in contents {
            try transaction.execute(
                """
                UPDATE contents SET use_count = use_count - 1
                WHERE application = \(application) AND id = \(content)
                """)
            try transaction.execute(
                """
                UPDATE shared_contents SET use_count = use_count - 1
                WHERE application = \(application) AND content = \(content)
                    AND conversation = \(conversation)
                """)
        }
        try transaction.execute(
            """
            DELETE FROM shared_contents
            WHERE application = \(application) AND content \(in: Set(contents))
                AND conversation = \(conversation) AND use_count = 0
            """)
        for content in Set(contents) { try dropUnlessUsed(content) }
    }

    /// Deletes the row of a content unless it is used. Its bytes are deleted later, and then ``erase(_:)`` is called.
    func dropUnlessUsed(_ content: Content.ID) throws {
        let size = try transaction.first(
            """
            DELETE FROM contents
            WHERE application = \(application) AND id = \(content) AND use_count = 0
            RETURNING size
            """
        ) { row in try row.int64(0) }
        guard let size else { return }
        try transaction.execute(
            """
            INSERT INTO dropped_contents (application, content)
            VALUES (\(application), \(content))
            ON CONFLICT (application, content) DO NOTHING
            """)
        try addStoredBytes(-size)
    }

    /// Deletes the rows of all contents of a conversation, used or not (R18), except those that messages of other
    /// conversations use. Their bytes are deleted later.
    func dropContents(of conversation: Conversation.ID) throws {
        try transaction.execute(
            """
            DELETE FROM scheduled_contents
            WHERE application = \(application) AND conversation = \(conversation)
            """)
        try releaseShared(by: conversation)
        try moveShared(from: conversation)
        try transaction.execute(
            """
            INSERT INTO dropped_contents (application, content)
            SELECT application, id FROM contents
            WHERE application = \(application) AND conversation = \(conversation)
            ON CONFLICT (application, content) DO NOTHING
            """)
        let size = try transaction.first(
            """
            SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM contents
            WHERE application = \(application) AND conversation = \(conversation)
            """
        ) { row in try row.int64(0) }
        try transaction.execute(
            """
            DELETE FROM contents
            WHERE application = \(application) AND conversation = \(conversation)
            """)
        try addStoredBytes(-(size ?? 0))
    }

    /// Ends the uses of contents of other conversations by a conversation.
    private func releaseShared(by conversation: Conversation.ID) throws {
        let used = try transaction.rows(
            """
            SELECT content, use_count FROM shared_contents
            WHERE application = \(application) AND conversation = \(conversation)
            """
        ) { row in (id: try row.id(0) as Content.ID, count: try row.int64(1)) }
        guard !used.isEmpty else { return }
        try transaction.execute(
            """
            DELETE FROM shared_contents
            WHERE application = \(application) AND conversation = \(conversation)
            """)
        for (id, count) in used {
            try transaction.execute(
                """
                UPDATE contents SET use_count = use_count - \(count)
                WHERE application = \(application) AND id = \(id)
                """)
            try dropUnlessUsed(id)
        }
    }

    /// Moves the contents of a conversation that other conversations use to one of these.
    private func moveShared(from conversation: Conversation.ID) throws {
        let used = try transaction.rows(
            """
            SELECT s.content, s.conversation, s.use_count
            FROM contents c CROSS JOIN shared_contents s
            WHERE c.application = \(application) AND c.conversation = \(conversation)
                AND s.application = c.application AND s.content = c.id
            ORDER BY s.content, s.conversation
            """
        ) { row in
            (
                content: try row.id(0) as Content.ID, user: try row.id(1) as Conversation.ID,
                count: try row.int64(2)
            )
        }
        for (content, uses) in Dictionary(grouping: used, by: \.content) {
            let owner = uses[0].user
            try transaction.execute(
                """
                UPDATE contents SET
                    conversation = \(owner), use_count = \(uses.reduce(0) { $0 + $1.count })
                WHERE application = \(application) AND id = \(content)
                """)
            try transaction.execute(
                """
                DELETE FROM shared_contents
                WHERE application = \(application) AND content = \(content)
                    AND conversation = \(owner)
                """)
        }
    }

    /// Moves the contents of a merged conversation, and its uses of others, to the winner.
    func moveContents(of loser: Conversation.ID, to winner: Conversation.ID) throws {
        for table in ["contents", "scheduled_contents"] as [StaticString] {
            try transaction.execute(
                """
                UPDATE \(raw: table) SET conversation = \(winner)
                WHERE application = \(application) AND conversation = \(loser)
                """)
        }
        try transaction.execute(
            """
            INSERT INTO shared_contents (application, content, conversation, use_count)
            SELECT application, content, \(winner), use_count FROM shared_contents
            WHERE application = \(application) AND conversation = \(loser)
            ON CONFLICT (application, content, conversation) DO UPDATE SET
                use_count = shared_contents.use_count + excluded.use_count
            """)
        try transaction.execute(
            """
            DELETE FROM shared_contents
            WHERE application = \(application) AND conversation = \(loser)
            """)
        try transaction.execute(
            """
            DELETE FROM shared_contents
            WHERE application = \(application) AND conversation = \(winner) AND content IN (
                SELECT id FROM contents
                WHERE application = \(application) AND conversation = \(winner)
            )
            """)
    }

    /// Deletes the ids of dropped contents whose bytes were deleted.
    func erase(_ contents: [Content.ID]) throws {
        for content in contents {
            try transaction.execute(
                """
                DELETE FROM dropped_contents
                WHERE application = \(application) AND content = \(content)
                """)
        }
    }

    /// Adds to the number of stored bytes of the application.
    private func addStoredBytes(_ bytes: Int64) throws {
        guard bytes != 0 else { return }
        try transaction.execute(
            """
            UPDATE applications SET content_bytes = content_bytes + \(bytes)
            WHERE application = \(application)
            """)
    }
}
