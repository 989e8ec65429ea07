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
    package struct Server: Sendable {
        fileprivate let listen: @Sendable (@escaping @Sendable (ChangeNotification) -> Void) -> Void
        fileprivate let stop: @Sendable () -> Void

        /// - Parameters:
        ///   - listen: Starts to pass the notifications to a closure; only its first call has an effect.
        ///   - stop: Ends the work, and waits until it has ended.
        package init(
            listen: @escaping @Sendable (@escaping @Sendable (ChangeNotification) -> Void) -> Void,
            stop: @escaping @Sendable () -> Void
        ) {
            self.listen = listen
            self.stop = stop
        }
    }

    private init(
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
    ///   - prefetch: Sends the queries that the change will make (``Transaction/query(_:as:reading:_:)``), and does
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
        server?.listen(receive)
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
        server?.stop()
        readers.close()
        writer.close()
    }
}

extension Database {
    /// Opens a file, creates it if it does not exist, and migrates the schema. While it is open, SQLite keeps two
    /// more files beside it, with the suffixes `-wal` and `-shm`.
    ///
    /// Blocks; meant for the start of a program.
    ///
    /// - Parameters:
    ///   - path: The path of the file; its folder must exist.
    ///   - migrations: All schema migrations, by ascending number.
    /// - Throws: ``SQLError``: ``SQLError/Kind/schema`` when a newer release has written the database,
    ///   ``SQLError/Kind/unfinished``, ``SQLError/Kind/notADatabase``, ``SQLError/Kind/corrupt``,
    ///   ``SQLError/Kind/readOnly``, ``SQLError/Kind/cannotOpen``, ``SQLError/Kind/locked``,
    ///   ``SQLError/Kind/diskFull``.
    public static func open(
        file path: String, migrations: [SchemaMigration],
        settings: DatabaseSettings = DatabaseSettings()
    ) throws -> Database {
        let migrator = SchemaMigrator(migrations: migrations, now: settings.now)
        return try open(path: path, folder: nil, migrator, settings)
    }

    /// Opens a new file below the system's temporary folder, deleted with the database. For tests: it is written
    /// and synced like any other.
    public static func openTemporary(
        migrations: [SchemaMigration], settings: DatabaseSettings = DatabaseSettings()
    ) throws -> Database {
        let migrator = SchemaMigrator(migrations: migrations, now: settings.now)
        let folder = try TemporaryFolder()
        return try open(path: "\(folder.path)/database", folder: folder, migrator, settings)
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
            try SQLiteConnection(writingTo: path, settings), interval: settings.checkpointInterval,
            quietTime: settings.quietTime)
        let readers = try ReaderPool(count: settings.readers) { () throws(SQLError) in
            try SQLiteConnection(readingFrom: path, settings)
        }
        return Database(
            writer: Writer(writing, onCommit: settings.onCommit), readers: readers, folder: folder)
    }
}

// MARK: - Other engines
extension Database {
    /// A database on a server, whose schema has been migrated.
    ///
    /// - Parameters:
    ///   - writer: The connection of the writer.
    ///   - openReader: Makes the connection of a reader.
    package convenience init(
        writer: sending any Connection, settings: DatabaseSettings, server: Server,
        onCommit: @escaping @Sendable (Duration) -> Void,
        openReader: () throws(SQLError) -> sending any Connection
    ) throws(SQLError) {
        self.init(
            writer: Writer(writer, onCommit: onCommit),
            readers: try ReaderPool(count: settings.readers, open: openReader), server: server)
    }

    /// A connection that only reads a file.
    package static func connection(
        readingFrom path: String, _ settings: DatabaseSettings
    ) throws(SQLError) -> any Connection {
        try SQLiteConnection(readingFrom: path, settings)
    }
}

extension SQLiteConnection {
    fileprivate convenience init(
        writingTo path: String, _ settings: DatabaseSettings
    ) throws(SQLError) {
        try self.init(path: path, access: .readWrite, busyTimeout: settings.busyTimeout)
        onPrepare = settings.onPrepare
        try prepareForWriting(settings)
    }

    fileprivate convenience init(
        readingFrom path: String, _ settings: DatabaseSettings
    ) throws(SQLError) {
        try self.init(path: path, access: .readOnly, busyTimeout: settings.busyTimeout)
        onPrepare = settings.onPrepare
        try prepareForReading()
    }
}
