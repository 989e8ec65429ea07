import SQL

extension SchemaMigration {
    static let present = SchemaMigration(
        number: 9, name: "present",
        statements: [
            // Each sending asks who takes part now, however many have left.
            """
            CREATE INDEX participants_present ON participants (application, conversation)
            WHERE left_after IS NULL
            """
        ])
}
