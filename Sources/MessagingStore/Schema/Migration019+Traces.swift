import SQL

// In which distributed trace something was asked for, as `id-flags`: null for none, and for what was recorded
// before.
extension SchemaMigration {
    static let traces = SchemaMigration(
        number: 19, name: "traces",
        statements: [
            "ALTER TABLE events ADD COLUMN trace TEXT",
            // Of the request that accepted it: whoever sends it is no part of any.
            "ALTER TABLE scheduled_messages ADD COLUMN trace TEXT",
            // An event may be trimmed before it could be delivered.
            "ALTER TABLE deliveries ADD COLUMN trace TEXT",
        ])
}
