/// A database: one writer that shares its commits among all who wait, and a few readers.
public final class Database: Sendable {
    let writer: Writer
    private let readers: Readers
    private let folder: TemporaryFolder?
    private let server: Server?
    /// Whether others may commit to it beside this process, as to one on a server: what was read is
    /// then true only for as long as the look at it lasts.
    public var isShared: Bool { server != nil }

    /// What runs beside the writer and the readers where the database is on a server.
    struct Server {
        let listener: PostgresListener
        let statistics: TableStatistics
    }

    init(
        writer: Writer, readers: Readers, folder: TemporaryFolder? = nil,
        server: Server? = nil
    ) {
        self.writer = writer
        self.readers = readers
        self.folder = folder
        self.server = server
    }

    /// Makes a change; when this returns, it is on disk.
    ///
    /// - Parameters:
    ///   - foresee: Asks what the change is going to ask, as facts, and does nothing else
    ///     (``Transaction/ask(_:as:_:)``): so that all changes of a commit have asked before the first of
    ///     them is run.
    ///   - change: Runs on the writer's thread inside a transaction shared with others, and may run more
    ///     than once, so it must have no effect outside. What it throws undoes this change alone.
    /// - Returns: What the change returned, after the commit.
    /// - Throws: What the change threw, or ``SQLError`` when the transaction could not be kept.
    public nonisolated(nonsending) func write<Value: Sendable>(
        foreseeing foresee: (@Sendable (Transaction) throws -> Void)? = nil,
        _ change: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            writer.enqueue(Mutation(change, foreseeing: foresee, answering: continuation))
        }
    }

    /// Looks at one consistent state: nothing committed meanwhile is seen.
    ///
    /// - Parameter look: Runs on a reader's thread, and may run a second time; it cannot change
    ///   anything. A long one keeps the database from letting go of what it no longer needs.
    public nonisolated(nonsending) func read<Value: Sendable>(
        _ look: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            readers.enqueue(
                Readers.Look { connection in
                    continuation.resume(with: Result { try connection.read(look) })
                } refuse: {
                    continuation.resume(throwing: SQLError.closed)
                })
        }
    }

    /// Hears what processes that share the database say of their changes, this one included, until it is
    /// closed; begins with ``Hint/missed``. Of a file nothing is heard. Only the first call counts.
    ///
    /// - Parameter hear: Called on a thread that waits for nothing else, so it has to be quick.
    public func listen(_ hear: @escaping @Sendable (Hint) -> Void) {
        server?.listener.start(hear)
    }

    /// How well commits are shared.
    public var statistics: WriterStatistics { writer.statistics }

    /// Changes that wait for the next transaction.
    public var waitingChanges: Int { writer.waiting }

    /// Readers at work; as many as the settings say when all are.
    public var busyReaders: Int { readers.busy }

    /// Looks that wait for a reader.
    public var waitingLooks: Int { readers.waiting }

    /// Finishes what waits and lets go of the database; a file has its log moved into it.
    ///
    /// Blocks until that is done, so not from inside a closure given to this database. Later calls
    /// of the others throw ``SQLError`` of kind ``SQLError/Kind/closed``.
    public func close() {
        server?.listener.stop()
        server?.statistics.stop()
        readers.close()
        writer.close()
    }
}
