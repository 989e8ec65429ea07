import SQL

// What readers of the log want to know besides: who made an event happen, and how far the log has been
// trimmed.
extension SchemaMigration {
    static let readers = SchemaMigration(
        number: 13, name: "readers",
        statements: [
            // Both are null for what the server does by itself, and for what was recorded before.
            "ALTER TABLE events ADD COLUMN actor_user TEXT",
            "ALTER TABLE events ADD COLUMN actor_token BYTEA",
            // Events up to there are gone.
            "ALTER TABLE log_positions ADD COLUMN trimmed BIGINT NOT NULL DEFAULT 0",
        ])
}
