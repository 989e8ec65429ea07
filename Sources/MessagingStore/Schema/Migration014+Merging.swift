import SQL

// What merging looks up: the ids that lead to a conversation, and the merges of a log. The writes of
// metadata have had their times from the first release on.
extension SchemaMigration {
    static let merging = SchemaMigration(
        number: 14, name: "merging",
        statements: [
            """
            CREATE INDEX conversation_aliases_by_conversation
            ON conversation_aliases (application, conversation)
            """,
            // Few, and asked for by who reads events of before.
            """
            CREATE INDEX events_merged ON events (application, position)
            WHERE kind = 'conversation.merged'
            """,
        ])
}
