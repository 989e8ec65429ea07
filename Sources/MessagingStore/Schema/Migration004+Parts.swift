import SQL

extension SchemaMigration {
    static let parts = SchemaMigration(
        number: 4, name: "parts",
        statements: [
            // How many parts a message has ever had; NULL for those it was sent with, so that a
            // sending writes nothing more.
            "ALTER TABLE messages ADD COLUMN parts_made BIGINT",
            // Where a part stands; NULL for the order of creation.
            "ALTER TABLE parts ADD COLUMN place BIGINT",
        ])
}
