public import SQL

/// The location of a database.
public enum DatabaseLocation: Hashable, Sendable {
    /// The path of a file, which is created if it does not exist; its folder must exist. While it is open,
    /// SQLite keeps two more files beside it, with the suffixes `-wal` and `-shm`.
    case file(String)

    /// A new file below the system's temporary folder, deleted with the database. For tests: it is written and
    /// synced like any other.
    case temporary

    /// The URL of a database on a PostgreSQL server, as libpq accepts it; it may hold a password. The tables
    /// are in the first schema of the search path.
    case server(String)

    /// Validates the URL of a server without connecting.
    ///
    /// - Throws: `SQLError.Kind.misuse` for a URL that libpq does not accept.
    public func check() throws(SQLError) {
        if case .server(let url) = self { try PostgresConnection.requireURL(url) }
    }
}

extension Database {
    /// Opens a database, creates the file if it does not exist, and migrates the schema.
    ///
    /// Blocks; meant for the start of a program. On a server the database must exist; its tables are
    /// created.
    ///
    /// - Parameter migrations: All schema migrations, by ascending number.
    /// - Throws: `SQLError` as `Database.open(file:migrations:settings:)` does; on a server
    ///   `SQLError.Kind.unreachable`, and `SQLError.Kind.misuse` for an invalid URL.
    public static func open(
        _ location: DatabaseLocation, migrations: [SchemaMigration],
        settings: DatabaseSettings = DatabaseSettings()
    ) throws -> Database {
        switch location {
        case .file(let path):
            return try open(file: path, migrations: migrations, settings: settings)
        case .temporary: return try openTemporary(migrations: migrations, settings: settings)
        case .server(let url):
            let migrator = SchemaMigrator(migrations: migrations, now: settings.now)
            return try open(url: url, migrator, settings)
        }
    }

    /// Migrates over a separate connection, so that an unreachable server fails at once; the other
    /// connections connect when they are first used.
    private static func open(
        url: String, _ migrator: SchemaMigrator, _ settings: DatabaseSettings
    ) throws -> Database {
        try PostgresConnection.requireURL(url)
        let migrating = PostgresConnection(to: url, PostgresSession.migrating)
        defer { migrating.close() }
        try migrator.migrate(migrating)
        let session = PostgresSession(settings)
        let listener = PostgresListener(to: url, session)
        let statistics = TableStatistics(for: url, session)
        // The tables may have been restored from a dump, which has no statistics.
        statistics.tablesMayHaveGrown()
        let server = Server(listen: listener.start) {
            listener.stop()
            statistics.stop()
        }
        let onCommit = settings.onCommit
        return try Database(
            writer: PostgresConnection(to: url, session), settings: settings, server: server
        ) { duration in
            onCommit(duration)
            statistics.tablesMayHaveGrown()
        } openReader: { () throws(SQLError) in
            PostgresConnection(to: url, session)
        }
    }
}
