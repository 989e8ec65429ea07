/// One step of the schema. A released migration is never changed.
public struct SchemaMigration: Hashable, Sendable {
    /// The number, from 1 upwards.
    public let number: Int

    /// A short name; stored with the number.
    public let name: String

    /// The statements, run in one transaction.
    public let statements: [SQL]

    /// A migration; `number` is positive.
    public init(number: Int, name: String, statements: [SQL]) {
        self.number = number
        self.name = name
        self.statements = statements
    }
}

/// Migrates a database to the schema of this program, and rejects an unknown schema.
package struct SchemaMigrator {
    private let migrations: [SchemaMigration]
    private let now: @Sendable () -> Int64
    private let acceptsUnfinished: Bool

    /// The number under which an unfinished `DatabaseMigration` stores its progress; no schema migration has it.
    package static let checkpointNumber = 0

    /// - Parameter acceptsUnfinished: Whether to accept a database whose `DatabaseMigration` is not finished.
    package init(
        migrations: [SchemaMigration], now: @escaping @Sendable () -> Int64,
        acceptsUnfinished: Bool = false
    ) {
        self.migrations = migrations
        self.now = now
        self.acceptsUnfinished = acceptsUnfinished
    }

    package func migrate(_ connection: any Connection) throws {
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
        _ migration: SchemaMigration, _ transaction: Transaction
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

    /// A newer release may have changed the meaning of rows, so its databases are rejected.
    private func requireKnownHistory(_ transaction: Transaction) throws {
        let names = Dictionary(uniqueKeysWithValues: migrations.map { ($0.number, $0.name) })
        for (number, name) in try transaction.appliedMigrations() {
            if number == Self.checkpointNumber {
                guard !acceptsUnfinished else { continue }
                throw SQLError(.unfinished, "the migration has reached \(name)")
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
                throw SQLError(.schema, Self.otherHistory(number, name, known))
            }
        }
    }

    /// What to do with a database whose migrations are others than those of this program.
    private static func otherHistory(_ number: Int, _ name: String, _ known: String) -> String {
        guard number == 1 else {
            return "migration \(number) is '\(name)' in the database, '\(known)' here"
        }
        return """
            its schema begins with '\(name)', that of this release with '\(known)': export each application with \
            the release that wrote it (parley export) and import the files into an empty database with this one \
            (parley import)
            """
    }

    /// Requires all migrations, for a database that must not be changed.
    package func requireWholeHistory(_ transaction: Transaction) throws {
        try requireKnownHistory(transaction)
        let last = try transaction.appliedMigrations().last?.number ?? 0
        guard last == migrations.last?.number ?? 0 else {
            throw SQLError(
                .schema,
                """
                the database has migrations up to \(last), this program knows them up to \
                \(migrations.last?.number ?? 0): an older release wrote it; run `parley serve` once to migrate it
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
    /// The migrations of the database, by ascending number.
    func appliedMigrations() throws -> [(number: Int, name: String)] {
        try rows("SELECT number, name FROM schema_migrations ORDER BY number") { row in
            (try row.int("number"), try row.text("name"))
        }
    }
}
