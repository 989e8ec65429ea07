import CSQLite

/// One connection with its prepared statements; used by one thread at a time.
///
/// A file of the C boundary. The pointer is this object's own from opening to `close` or `deinit`; a
/// connection is never `Sendable`, and its owners keep it behind a lock.
@safe final class SQLiteConnection: Connection {
    private(set) var pointer: OpaquePointer?
    private var statements: [Phrase: SQLiteStatement] = [:]
    private var uses: UInt64 = 0
    private let wal = WriteAheadLog()
    let notebook = Notebook()
    /// Moves the log of a connection that writes; `nil` for all others.
    var checkpointer: Checkpointer?

    /// Prepared statements kept at once; the least recently used one goes first.
    static let statementLimit = 256

    /// Read by the first connection, before the library is at work: nobody here asks for its
    /// statistics of memory, and their lock is taken at every allocation. Too late, it refuses, and
    /// nothing changes.
    private static let configuration = csqlite_leave_out_memory_statistics()

    init(path: String, access: Access, busyTimeout: Duration) throws(SQLError) {
        _ = Self.configuration
        let code = unsafe sqlite3_open_v2(path, &pointer, access.flags, nil)
        guard code == SQLITE_OK else {
            // Even a failed open may leave a handle, which knows what went wrong.
            let error = unsafe SQLError(database: pointer, code: code, statement: nil)
            unsafe sqlite3_close_v2(pointer)
            throw error
        }
        unsafe sqlite3_extended_result_codes(pointer, 1)
        let milliseconds = busyTimeout / .milliseconds(1)
        unsafe sqlite3_busy_timeout(pointer, Int32(min(max(milliseconds, 0), 3_600_000)))
        // Asked to write, SQLite quietly opens for reading what it may not write.
        let isReadOnly = unsafe sqlite3_db_readonly(pointer, "main") != 0
        guard access == .readOnly || !isReadOnly else {
            close()
            throw SQLError(.readOnly, "\(path) may not be written")
        }
    }

    deinit { close() }

    enum Access {
        case readWrite, readOnly

        /// Without SQLite's own mutex: our lock is the one that counts.
        fileprivate var flags: Int32 {
            switch self {
            case .readWrite: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            case .readOnly: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
            }
        }
    }

    func close() {
        if let checkpointer {
            checkpointer.close()
            // The changes are durable in the log as they are; the next opening reads it.
            try? checkpoint(.truncate)
            self.checkpointer = nil
        }
        statements.removeAll()
        // v2 waits for statements that are still lent out.
        unsafe sqlite3_close_v2(pointer)
        unsafe pointer = nil
    }

    /// None as soon as the engine has ended the transaction by itself.
    var state: TransactionState {
        unsafe pointer.map { unsafe sqlite3_get_autocommit($0) == 0 } == true ? .open : .none
    }

    /// Rows changed since the connection was opened.
    private var totalChanges: Int64 {
        unsafe pointer.map { unsafe sqlite3_total_changes64($0) } ?? 0
    }

    /// Pages in the write-ahead log after the last commit, once ``countWALPages()`` was called.
    var walPages: Int { Int(wal.pages) }

    func countWALPages() {
        // Holds because the log's page count lives as long as the connection it is called by, and on
        // the thread that commits.
        let context = unsafe Unmanaged.passUnretained(wal).toOpaque()
        unsafe sqlite3_wal_hook(
            pointer,
            { context, _, _, pages in
                if let context = unsafe context {
                    unsafe Unmanaged<WriteAheadLog>.fromOpaque(context)
                        .takeUnretainedValue().pages = pages
                }
                return SQLITE_OK
            }, context)
    }

    /// Copies what the write-ahead log holds into the database file.
    func checkpoint(_ extent: Checkpoint) throws(SQLError) {
        guard unsafe pointer != nil else { throw .closed }
        let code = unsafe sqlite3_wal_checkpoint_v2(pointer, nil, extent.mode, nil, nil)
        guard code != SQLITE_OK else { return }
        throw unsafe SQLError(database: pointer, code: code, statement: nil)
    }

    enum Checkpoint {
        /// What can be copied without making anybody wait.
        case passive
        /// All of it, and the log becomes empty; waits for readers.
        case truncate

        fileprivate var mode: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }
}

// What all engines do.
extension SQLiteConnection {
    func begin(_ access: TransactionAccess) throws(SQLError) {
        try run(SQLiteDialect.begin(access))
    }

    func execute(_ sql: SQL) throws(SQLError) {
        let statement = try bound(sql)
        defer { takeBack(statement) }
        while try statement.next() {}
    }

    func change(_ sql: SQL) throws(SQLError) -> Int {
        let before = totalChanges
        try execute(sql)
        return Int(totalChanges - before)
    }

    func query(_ sql: SQL) throws(SQLError) -> any Rows { try bound(sql) }

    func ask(_ sql: SQL, _ take: (any Rows) -> Void) throws(SQLError) {
        let rows = try bound(sql)
        defer { takeBack(rows) }
        take(rows)
    }

    /// Nothing waits here.
    func settle() {}

    func commit() throws(SQLError) { try run(Dialect.commit) }

    func rollBack() {
        guard state == .open else { return }
        // Nothing is lost when this fails: without a COMMIT nothing was durable, and the next BEGIN
        // says that the connection is unusable.
        _ = try? run(Dialect.rollback)
    }

    func savepoint() throws(SQLError) { try run(Dialect.savepoint) }
    func rollBackToSavepoint() throws(SQLError) { try run(Dialect.rollbackToSavepoint) }
    func releaseSavepoint() throws(SQLError) { try run(Dialect.release) }

    func schema(_ statement: SQL) -> SQL { statement }

    var isRemote: Bool { false }

    /// Other processes at the file find out by looking.
    var isHeard: Bool { false }

    func hint(_ texts: [String]) {}

    func tidyUp() {
        checkpointer?.observe(walPages: walPages)
        checkpointer?.completeCheckpoint(on: self)
    }

    /// The statement with its values bound; whoever asks for it has to give it back.
    private func bound(_ sql: SQL) throws(SQLError) -> SQLiteStatement {
        let statement = try statement(for: sql.phrase)
        do {
            try statement.bind(sql.values)
        } catch {
            takeBack(statement)
            throw error
        }
        return statement
    }
}

// Prepared statements. One that is lent out is not lent again, so using it inside its own rows
// prepares a second one.
extension SQLiteConnection {
    func statement(for phrase: Phrase) throws(SQLError) -> SQLiteStatement {
        if let statement = statements[phrase], !statement.isLent {
            statement.isLent = true
            return statement
        }
        guard let pointer = unsafe pointer else { throw .closed }
        return try unsafe SQLiteStatement(phrase, on: pointer, of: self)
    }

    func takeBack(_ statement: SQLiteStatement) {
        statement.reset()
        uses += 1
        statement.lastUse = uses
        statement.isLent = false
        guard !statement.isKept else { return }
        if statements.count >= Self.statementLimit,
            let oldest = statements.values.min(by: { $0.lastUse < $1.lastUse })
        {
            forget(oldest)
        }
        // The second one of a text, as both were in use, takes the place of the first.
        if let other = statements[statement.phrase] { forget(other) }
        statement.isKept = true
        statements[statement.phrase] = statement
    }

    private func forget(_ statement: SQLiteStatement) {
        statement.isKept = false
        statements[statement.phrase] = nil
    }

    /// How many prepared statements are kept.
    var preparedCount: Int { statements.count }

    /// Runs a statement that needs no transaction, and returns the first column of its first row.
    @discardableResult
    func run(_ sql: String) throws(SQLError) -> SQLValue {
        let statement = try statement(for: Phrase(sql))
        defer { takeBack(statement) }
        guard try statement.next() else { return .null }
        return statement.value(at: 0)
    }
}

/// What SQLite tells about its log at each commit.
private final class WriteAheadLog {
    var pages: Int32 = 0
}
