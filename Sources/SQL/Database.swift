/// A database: one writer that commits the changes of many callers together, and a pool of readers.
public final class Database: Sendable {
    let writer: Writer
    private let readers: ReaderPool
    private let folder: TemporaryFolder?
    private let server: Server?
    /// Whether other processes may commit to the database, as on a server: what was read may then be
    /// outdated as soon as the read has ended.
    public var isShared: Bool { server != nil }

    /// The background work beside writer and readers when the database is on a server.
    struct Server {
        let listener: PostgresListener
        let statistics: TableStatistics
    }

    init(
        writer: Writer, readers: ReaderPool, folder: TemporaryFolder? = nil,
        server: Server? = nil
    ) {
        self.writer = writer
        self.readers = readers
        self.folder = folder
        self.server = server
    }

    /// Makes a change; when this returns, it is durable.
    ///
    /// - Parameters:
    ///   - prefetch: Sends the queries that the change will make (``Transaction/ask(_:as:_:)``), and does
    ///     nothing else: the queries of all changes of a commit share one round trip.
    ///   - change: Runs on the writer's thread inside a transaction shared with other changes. It may run
    ///     more than once, so it must have no other effect. An error it throws undoes this change alone.
    /// - Returns: What the change returned, after the commit.
    /// - Throws: What the change threw, or ``SQLError`` when the transaction could not be committed.
    public nonisolated(nonsending) func write<Value: Sendable>(
        prefetching prefetch: (@Sendable (Transaction) throws -> Void)? = nil,
        _ change: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            writer.enqueue(Mutation(change, prefetching: prefetch, answering: continuation))
        }
    }

    /// Reads one consistent snapshot: changes committed meanwhile are not seen.
    ///
    /// - Parameter body: Runs on a reader's thread, and may run a second time; it cannot change anything.
    ///   While it runs, the database cannot reuse the space of outdated rows.
    public nonisolated(nonsending) func read<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            readers.enqueue(
                ReaderPool.Job { connection in
                    continuation.resume(with: Result { try connection.read(body) })
                } reject: {
                    continuation.resume(throwing: SQLError.closed)
                })
        }
    }

    /// Receives the notifications of all processes that share the database, this one included, until it is
    /// closed; the first is ``ChangeNotification/missed``. A file sends none. Only the first call has an effect.
    ///
    /// - Parameter receive: Called on the listener's thread; it must return quickly.
    public func listen(_ receive: @escaping @Sendable (ChangeNotification) -> Void) {
        server?.listener.start(receive)
    }

    /// Counters of the writer.
    public var statistics: WriterStatistics { writer.statistics }

    /// Changes queued for the next transaction.
    public var waitingChanges: Int { writer.waiting }

    /// Readers in use, up to the number in the settings.
    public var busyReaders: Int { readers.busy }

    /// Reads queued for a reader.
    public var waitingReads: Int { readers.waiting }

    /// Runs what is queued and closes the database; the write-ahead log of a file is moved into the file.
    ///
    /// Blocks, so it must not be called from a closure given to this database. Later calls of the other
    /// methods throw ``SQLError`` of kind ``SQLError/Kind/closed``.
    public func close() {
        server?.listener.stop()
        server?.statistics.stop()
        readers.close()
        writer.close()
    }
}

extension Database {
    /// Opens a database, creates the file if it does not exist, and migrates the schema.
    ///
    /// Blocks; meant for the start of a program. On a server the database must exist; its tables are
    /// created.
    ///
    /// - Parameter migrations: All schema migrations, by ascending number.
    /// - Throws: ``SQLError``: ``SQLError/Kind/schema`` when a newer release has written the database,
    ///   ``SQLError/Kind/unfinished``, ``SQLError/Kind/notADatabase``, ``SQLError/Kind/corrupt``,
    ///   ``SQLError/Kind/readOnly``, ``SQLError/Kind/cannotOpen``, ``SQLError/Kind/locked``,
    ///   ``SQLError/Kind/diskFull``; on a server ``SQLError/Kind/unreachable``, and ``SQLError/Kind/misuse``
    ///   for an invalid URL.
    public static func open(
        _ location: DatabaseLocation, migrations: [SchemaMigration],
        settings: DatabaseSettings = DatabaseSettings()
    ) throws -> Database {
        let migrator = SchemaMigrator(migrations: migrations, now: settings.now)
        switch location {
        case .file(let path): return try open(path: path, folder: nil, migrator, settings)
        case .temporary:
            let folder = try TemporaryFolder()
            return try open(path: "\(folder.path)/database", folder: folder, migrator, settings)
        case .server(let url): return try open(url: url, migrator, settings)
        }
    }

    private static func open(
        path: String, folder: TemporaryFolder?, _ migrator: SchemaMigrator,
        _ settings: DatabaseSettings
    ) throws -> Database {
        let writing = try SQLiteConnection(writingTo: path, settings)
        try migrator.migrate(writing)
        // After the pragmas, which replace the same hook.
        writing.countWALPages()
        writing.checkpointer = Checkpointer(
            try SQLiteConnection(writingTo: path, settings), interval: settings.checkpointInterval)
        let readers = try ReaderPool(count: settings.readers) { () throws(SQLError) in
            try SQLiteConnection(readingFrom: path, settings)
        }
        return Database(
            writer: Writer(writing, onCommit: settings.onCommit), readers: readers, folder: folder)
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
        let readers = try ReaderPool(count: settings.readers) { () throws(SQLError) in
            PostgresConnection(to: url, session)
        }
        let statistics = TableStatistics(for: url, session)
        // The tables may have been restored from a dump, which has no statistics.
        statistics.tablesMayHaveGrown()
        let onCommit = settings.onCommit
        let writer = Writer(PostgresConnection(to: url, session)) { duration in
            onCommit(duration)
            statistics.tablesMayHaveGrown()
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
