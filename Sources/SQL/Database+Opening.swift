extension Database {
    /// Opens a database, makes it where there is none, and brings its schema up to date.
    ///
    /// Blocks; meant for the start of a program. On a server the database has to be there, its tables are
    /// made.
    ///
    /// - Parameters:
    ///   - migrations: The whole history, numbered upwards.
    /// - Throws: ``SQLError``: ``SQLError/Kind/schema`` when a newer release has written the database,
    ///   ``SQLError/Kind/unfinished``,
    ///   ``SQLError/Kind/notADatabase``, ``SQLError/Kind/corrupt``, ``SQLError/Kind/readOnly``,
    ///   ``SQLError/Kind/cannotOpen``, ``SQLError/Kind/locked``, ``SQLError/Kind/diskFull``, and of a
    ///   server ``SQLError/Kind/unreachable``, and ``SQLError/Kind/misuse`` for a URL that is none.
    public static func open(
        _ location: DatabaseLocation, migrations: [Migration],
        settings: DatabaseSettings = DatabaseSettings()
    ) throws -> Database {
        let migrator = Migrator(migrations: migrations, now: settings.now)
        switch location {
        case .file(let path): return try open(path: path, folder: nil, migrator, settings)
        case .temporary:
            let folder = try TemporaryFolder()
            return try open(path: "\(folder.path)/database", folder: folder, migrator, settings)
        case .server(let url): return try open(url: url, migrator, settings)
        }
    }

    private static func open(
        path: String, folder: TemporaryFolder?, _ migrator: Migrator, _ settings: DatabaseSettings
    ) throws -> Database {
        let writing = try SQLiteConnection(writingTo: path, settings)
        try migrator.migrate(writing)
        // After the settings, which use the same hook.
        writing.countWALPages()
        writing.checkpointer = Checkpointer(
            try SQLiteConnection(writingTo: path, settings), interval: settings.checkpointInterval)
        let readers = try Readers(count: settings.readers) { () throws(SQLError) in
            try SQLiteConnection(readingFrom: path, settings)
        }
        return Database(
            writer: Writer(writing, onCommit: settings.onCommit), readers: readers, folder: folder)
    }

    /// Migrates over a connection of its own, which says at once when that cannot be done; the others
    /// connect when they are needed.
    private static func open(
        url: String, _ migrator: Migrator, _ settings: DatabaseSettings
    ) throws -> Database {
        try PostgresConnection.requireURL(url)
        let migrating = PostgresConnection(to: url, PostgresSession.migrating)
        defer { migrating.close() }
        try migrator.migrate(migrating)
        let session = PostgresSession(settings)
        let readers = try Readers(count: settings.readers) { () throws(SQLError) in
            PostgresConnection(to: url, session)
        }
        let statistics = TableStatistics(for: url, session)
        // Its tables may come from a dump, which brings no statistics.
        statistics.grown()
        let onCommit = settings.onCommit
        let writer = Writer(PostgresConnection(to: url, session)) { duration in
            onCommit(duration)
            statistics.grown()
        }
        return Database(
            writer: writer, readers: readers,
            server: Server(
                listener: PostgresListener(to: url, session), statistics: statistics))
    }
}

extension SQLiteConnection {
    fileprivate convenience init(
        writingTo path: String, _ settings: DatabaseSettings
    ) throws(SQLError) {
        try self.init(path: path, access: .readWrite, busyTimeout: settings.busyTimeout)
        try prepareForWriting(settings)
    }

    fileprivate convenience init(
        readingFrom path: String, _ settings: DatabaseSettings
    ) throws(SQLError) {
        try self.init(path: path, access: .readOnly, busyTimeout: settings.busyTimeout)
        try prepareForReading()
    }
}
