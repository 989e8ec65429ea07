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
    }

    /// Counts one use less of a content for each time it occurs, and drops contents that are no longer used (R24).
    func release(_ contents: [Content.ID]) throws {
        for content in contents {
            try transaction.execute(
                """
                UPDATE contents SET use_count = use_count - 1
                WHERE application = \(application) AND id = \(content)
                """)
        }
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

    /// Deletes the rows of all contents of a conversation, used or not (R18). Their bytes are deleted later.
    func dropContents(of conversation: Conversation.ID) throws {
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
