import SQL

extension Migration {
    static let users = Migration(
        number: 3, name: "users",
        statements: [
            // A directed block (R30); a row with owner = blocked has no effect on anybody.
            """
            CREATE TABLE blocks (
                application BYTEA NOT NULL,
                owner TEXT NOT NULL,
                blocked TEXT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX blocks_by_owner ON blocks (application, owner, blocked)",
            "CREATE INDEX blocks_by_blocked ON blocks (application, blocked, owner)",
        ])
}
