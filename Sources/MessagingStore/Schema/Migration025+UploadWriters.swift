import SQL

// Whether the process that replaced the record of an upload last is receiving its body, and what another process
// asks of it meanwhile: 0 nothing, 1 to commit what it has received, 2 to stop.
extension SchemaMigration {
    static let uploadWriters = SchemaMigration(
        number: 25, name: "upload writers",
        statements: [
            "ALTER TABLE uploads ADD COLUMN is_written BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE uploads ADD COLUMN wanted BIGINT NOT NULL DEFAULT 0",
        ])
}
