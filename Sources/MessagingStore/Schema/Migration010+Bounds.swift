import SQL

// What bounds an answer and a look: how much a message weighs, so that a page can end before it is read;
// and where a user has something unread.
extension SchemaMigration {
    static let bounds = SchemaMigration(
        number: 10, name: "bounds",
        statements: [
            "ALTER TABLE messages ADD COLUMN weight BIGINT NOT NULL DEFAULT 0",
            """
            UPDATE messages SET weight = (
                SELECT CAST(COALESCE(SUM(
                    COALESCE(LENGTH(p.body), 0) + LENGTH(p.mime_type) + 256
                ), 0) AS BIGINT) FROM parts p
                WHERE p.application = messages.application AND p.message = messages.id
            )
            """,
            // A badge adds up what is unread: not all a user has, only where there is something. The
            // counts stay outside, so that one more unread message leaves the index as it is.
            """
            CREATE INDEX participants_unread ON participants (application, user_id)
            WHERE state = 'shown' AND unread_count > 0
            """,
        ])
}
