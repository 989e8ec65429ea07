import SQL

// Who of several processes does what only one may do at a time. Nothing of it is messaging's: no event
// makes these rows, and no replay.
extension SchemaMigration {
    static let leases = SchemaMigration(
        number: 12, name: "leases",
        statements: [
            """
            CREATE TABLE leases (
                name TEXT NOT NULL PRIMARY KEY,
                holder BYTEA,
                beat BIGINT NOT NULL
            )
            """
        ])
}
