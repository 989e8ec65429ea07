import Messaging
import SQL

extension Projection {
    func keep(_ content: Content) throws {
        try transaction.execute(
            """
            INSERT INTO contents (
                application, id, conversation, mime_type, size, file_name, sha256, crc32c, md5,
                completed_at, origin
            ) VALUES (
                \(application), \(content.id), \(content.conversation), \(content.mimeType),
                \(content.size), \(content.fileName), \(content.sha256),
                \(Int64(content.crc32c)), \(content.md5), \(content.completedAt),
                \(content.origin)
            )
            """)
    }

    func own(_ content: Content.ID, _ user: UserID) throws {
        try transaction.execute(
            """
            UPDATE contents SET uploader = \(user)
            WHERE application = \(application) AND id = \(content)
            """)
    }

    /// A content goes with the last message that attaches it (R24).
    func dropUnlessAttached(_ content: Content.ID) throws {
        try transaction.execute(
            """
            DELETE FROM contents WHERE application = \(application) AND id = \(content)
                AND NOT EXISTS (
                    SELECT 1 FROM parts
                    WHERE application = \(application) AND content = \(content)
                )
            """)
    }
}
