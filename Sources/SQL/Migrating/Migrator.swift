/// Brings a database to the schema this program knows, and refuses one it does not know.
struct Migrator {
    let migrations: [Migration]
    let now: @Sendable () -> Int64
    /// Whether a database may be one that is still being filled from another.
    var takesUnfinished = false

    func migrate(_ connection: any Connection) throws {
        try requireAscendingNumbers()
        try connection.write { transaction in
            try transaction.execute(
                connection.schema(
                    """
                    CREATE TABLE IF NOT EXISTS schema_migrations (
                        number BIGINT NOT NULL PRIMARY KEY,
                        name TEXT NOT NULL,
                        applied_at BIGINT NOT NULL
                    )
                    """))
        }
        try connection.write { transaction in
            try requireKnownHistory(transaction)
        }
        for migration in migrations {
            // Looked up again inside the transaction: another process may be migrating as well.
            try connection.write { transaction in
                guard try name(of: migration.number, transaction) == nil else { return }
                for statement in migration.statements {
                    try transaction.execute(connection.schema(statement))
                }
                try note(migration, transaction)
            }
        }
    }

    private func note(
        _ migration: Migration, _ transaction: Transaction
    ) throws {
        try transaction.execute(
            """
            INSERT INTO schema_migrations (number, name, applied_at)
            VALUES (\(migration.number), \(migration.name), \(now()))
            """)
    }

    private func requireAscendingNumbers() throws {
        let numbers = migrations.map(\.number)
        guard zip(numbers, numbers.dropFirst()).allSatisfy(<), numbers.allSatisfy({ $0 > 0 }) else {
            throw SQLError(.misuse, "migrations are not numbered upwards: \(numbers)")
        }
    }

    /// A newer release may have changed what we would read wrongly, so its databases are refused.
    private func requireKnownHistory(_ transaction: Transaction) throws {
        let names = Dictionary(uniqueKeysWithValues: migrations.map { ($0.number, $0.name) })
        for (number, name) in try transaction.appliedMigrations() {
            if number == MoveMark.number {
                guard !takesUnfinished else { continue }
                throw SQLError(.unfinished, "it has come to \(name)")
            }
            guard let known = names[number] else {
                throw SQLError(
                    .schema,
                    """
                    the database has migration \(number) (\(name)), this program knows them up to \
                    \(migrations.last?.number ?? 0): it was written by another, newer release
                    """)
            }
            guard known == name else {
                throw SQLError(
                    .schema, "migration \(number) is '\(name)' in the database, '\(known)' here")
            }
        }
    }

    /// Nothing is migrated where nothing may be changed, and half a history is read as wrongly as a newer one.
    func requireWholeHistory(_ transaction: Transaction) throws {
        try requireKnownHistory(transaction)
        let last = try transaction.appliedMigrations().last?.number ?? 0
        guard last == migrations.last?.number ?? 0 else {
            throw SQLError(
                .schema,
                """
                the database has migrations up to \(last), this program knows them up to \
                \(migrations.last?.number ?? 0): an older release wrote it, serve it once to bring it up to date
                """)
        }
    }

    private func name(
        of number: Int, _ transaction: Transaction
    ) throws -> String? {
        try transaction.appliedMigrations().first { $0.number == number }?.name
    }
}

extension Transaction {
    /// The history of the database, oldest first.
    func appliedMigrations() throws -> [(number: Int, name: String)] {
        try rows("SELECT number, name FROM schema_migrations ORDER BY number") { row in
            (try row.int("number"), try row.text("name"))
        }
    }
}
