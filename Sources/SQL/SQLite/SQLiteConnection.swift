import CSQLite
import Glibc

/// An SQLite connection with its prepared statements, used by one thread at a time.
///
/// C boundary: this object owns the pointer from opening to `close` or `deinit`. A connection is never
/// `Sendable`; its owners guard it with a lock.
@safe final class SQLiteConnection: Connection {
    private(set) var pointer: OpaquePointer?
    private var statements: [StatementTemplate: SQLiteStatement] = [:]
    private var uses: UInt64 = 0
    private let wal = WriteAheadLog()
    let cache = TransactionCache()
    /// The checkpointer of the connection that writes; `nil` for all others.
    var checkpointer: Checkpointer?

    /// ``DatabaseSettings/onPrepare``.
    var onPrepare: StatementObserver?

    /// The most prepared statements; the least recently used one is evicted first.
    static let statementLimit = 256

    /// Disables SQLite's memory statistics, whose lock is taken at every allocation. SQLite accepts this only
    /// before its first use, so the first connection reads it; later it has no effect.
    private static let configuration = csqlite_leave_out_memory_statistics()

    /// The oldest version of the library that this module has been tested with, as `sqlite3_libversion_number`.
    private static let oldestVersion: Int32 = 3_040_000

    /// Checks a version of the library.
    static func requireSupported(_ version: Int32) throws(SQLError) {
        guard version < oldestVersion else { return }
        let (major, minor) = (version / 1_000_000, version / 1000 % 1000)
        throw SQLError(.other, "SQLite \(major).\(minor) is too old; 3.40 or later is required")
    }

    init(path: String, access: Access, busyTimeout: Duration) throws(SQLError) {
        try Self.requireSupported(sqlite3_libversion_number())
        _ = Self.configuration
        let code = unsafe sqlite3_open_v2(path, &pointer, access.flags, nil)
        guard code == SQLITE_OK else {
            // A failed open may return a handle, which has the error message.
            let error = unsafe SQLError(database: pointer, code: code, statement: nil)
            unsafe sqlite3_close_v2(pointer)
            throw error
        }
        unsafe sqlite3_extended_result_codes(pointer, 1)
        let milliseconds = busyTimeout / .milliseconds(1)
        unsafe sqlite3_busy_timeout(pointer, Int32(min(max(milliseconds, 0), 3_600_000)))
        // SQLite opens a file that is not writable for reading, without an error.
        let isReadOnly = unsafe sqlite3_db_readonly(pointer, "main") != 0
        guard access == .readOnly || !isReadOnly else {
            close()
            throw SQLError(.readOnly, "\(path) is not writable")
        }
    }

    deinit { close() }

    enum Access {
        case readWrite, readOnly

        /// Without SQLite's own mutex: the owner of the connection has a lock.
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
            // If it fails, the changes stay durable in the log, which the next opening reads.
            try? checkpoint(.truncate)
            self.checkpointer = nil
        }
        statements.removeAll()
        // v2 closes when the last statement in use is finalised.
        unsafe sqlite3_close_v2(pointer)
        unsafe pointer = nil
    }

    /// `.none` as soon as the engine has ended the transaction by itself.
    var state: TransactionState {
        unsafe pointer.map { unsafe sqlite3_get_autocommit($0) == 0 } == true ? .open : .none
    }

    /// Rows changed since the connection was opened.
    private var totalChanges: Int64 {
        unsafe pointer.map { unsafe sqlite3_total_changes64($0) } ?? 0
    }

    /// Pages in the write-ahead log after the last commit, once ``countWALPages()`` was called.
    private var walPages: Int { Int(wal.pages) }

    func countWALPages() {
        // Safe: the connection owns the page count and calls the hook on the thread that commits.
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

    /// Copies the write-ahead log into the database file.
    func checkpoint(_ extent: Checkpoint) throws(SQLError) {
        guard unsafe pointer != nil else { throw .closed }
        let code = unsafe sqlite3_wal_checkpoint_v2(pointer, nil, extent.mode, nil, nil)
        guard code != SQLITE_OK else { return }
        throw unsafe SQLError(database: pointer, code: code, statement: nil)
    }

    enum Checkpoint {
        /// Copies what can be copied without blocking readers or the writer.
        case passive
        /// Copies everything and empties the log; waits for readers.
        case truncate

        fileprivate var mode: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }
}

// MARK: - Connection
extension SQLiteConnection {
    func begin(_ access: TransactionAccess) throws(SQLError) {
        try run(SQLiteDialect.begin(access))
    }

    func execute(_ sql: SQL) throws(SQLError) {
        let statement = try bound(sql)
        defer { takeBack(statement) }
        while try statement.next() {}
    }

    func execute(_ template: StatementTemplate, with rows: [[SQLValue]]) throws(SQLError) {
        let statement = try statement(for: template)
        defer { takeBack(statement) }
        for values in rows {
            try statement.bind(values)
            while try statement.next() {}
            statement.reset()
        }
    }

    func change(_ sql: SQL) throws(SQLError) -> Int {
        let before = totalChanges
        try execute(sql)
        return Int(totalChanges - before)
    }

    func query(_ sql: SQL) throws(SQLError) -> any Rows { try bound(sql) }

    func query(_ sql: SQL, _ take: (any Rows) -> Void) throws(SQLError) {
        let rows = try bound(sql)
        defer { takeBack(rows) }
        take(rows)
    }

    /// Statements are never deferred here.
    func flush() {}

    func commit() throws(SQLError) { try run(Dialect.commit) }

    func rollBack() {
        guard state == .open else { return }
        // A failure loses nothing: without a COMMIT nothing is durable, and the next BEGIN reports an
        // unusable connection.
        _ = try? run(Dialect.rollback)
    }

    func savepoint() throws(SQLError) { try run(Dialect.savepoint) }
    func rollBackToSavepoint() throws(SQLError) { try run(Dialect.rollbackToSavepoint) }
    func releaseSavepoint() throws(SQLError) { try run(Dialect.release) }

    func schema(_ statement: SQL) -> SQL { statement }

    var isRemote: Bool { false }

    var roundTrips: Int { 0 }

    /// One process at a time opens a file.
    var isContended: Bool { false }

    /// Other processes that open the file are not notified.
    var hasListeners: Bool { false }

    func notify(_ texts: [String]) {}

    func performMaintenance() {
        checkpointer?.observe(walPages: walPages)
        checkpointer?.completeCheckpoint(on: self)
    }

    /// The prepared statement with its values bound; the caller must give it back (`takeBack`).
    private func bound(_ sql: SQL) throws(SQLError) -> SQLiteStatement {
        let sql = sql.spreadingArrays()
        let statement = try statement(for: sql.template)
        do {
            try statement.bind(sql.values)
        } catch {
            takeBack(statement)
            throw error
        }
        return statement
    }
}

// MARK: - Prepared statements
// A statement in use is not returned to a second caller; using it while its rows are read prepares a second one.
extension SQLiteConnection {
    private func statement(for template: StatementTemplate) throws(SQLError) -> SQLiteStatement {
        if let statement = statements[template], !statement.isLent {
            statement.isLent = true
            return statement
        }
        guard let pointer = unsafe pointer else { throw .closed }
        let statement = try unsafe SQLiteStatement(template, on: pointer, of: self)
        onPrepare?(template.text) { try plan(of: template.text) }
        return statement
    }

    /// How the engine finds the rows of a statement, as ``StatementObserver`` describes.
    private func plan(of statement: String) throws(SQLError) -> [String] {
        guard let pointer = unsafe pointer else { throw .closed }
        let explaining = try unsafe SQLiteStatement(
            StatementTemplate("EXPLAIN QUERY PLAN \(statement)"), on: pointer, of: self)
        var lines: [String] = []
        while try explaining.next() {
            if case .text(let line) = explaining.value(at: 3) { lines.append(line) }
        }
        return lines
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
        // Of two statements with one text, the one given back last is kept.
        if let other = statements[statement.template] { forget(other) }
        statement.isKept = true
        statements[statement.template] = statement
    }

    private func forget(_ statement: SQLiteStatement) {
        statement.isKept = false
        statements[statement.template] = nil
    }

    /// The number of cached prepared statements.
    var preparedCount: Int { statements.count }

    /// Runs a statement outside a transaction, and returns the first column of its first row.
    @discardableResult
    func run(_ sql: String) throws(SQLError) -> SQLValue {
        let statement = try statement(for: StatementTemplate(sql))
        defer { takeBack(statement) }
        guard try statement.next() else { return .null }
        return statement.value(at: 0)
    }
}

/// The size of the write-ahead log, which SQLite reports at each commit.
private final class WriteAheadLog {
    var pages: Int32 = 0
}

extension SQLiteConnection {
    /// Sets the pragmas that make commits durable, and verifies them.
    func prepareForWriting(_ settings: DatabaseSettings) throws(SQLError) {
        try require("journal_mode = WAL", "journal_mode", is: .text("wal"))
        // In WAL mode NORMAL would lose acknowledged commits on a power cut
        // (https://sqlite.org/pragma.html#pragma_synchronous); 2 is FULL. A checkpoint syncs as its
        // own connection says, so that one is prepared likewise.
        try require("synchronous = FULL", "synchronous", is: .integer(2))
        // On Apple platforms a sync does not reach the disk without these; elsewhere they have no effect.
        try require("fullfsync = ON", "fullfsync", is: .integer(1))
        try require("checkpoint_fullfsync = ON", "checkpoint_fullfsync", is: .integer(1))
        try require("foreign_keys = OFF", "foreign_keys", is: .integer(0))
        // The checkpointer runs checkpoints on its own thread.
        try run("PRAGMA wal_autocheckpoint = 0")
        try run("PRAGMA cache_size = -16384")
        try mapFile()
        if let limit = settings.pageLimit { try run("PRAGMA max_page_count = \(limit)") }
    }

    /// Sets the pragmas of a connection that only reads.
    func prepareForReading() throws(SQLError) {
        try require("query_only = ON", "query_only", is: .integer(1))
        try run("PRAGMA cache_size = -8192")
        try mapFile()
    }

    /// Maps the file into memory, so that pages outside SQLite's cache are read without a system call and a
    /// copy each; a look-up in a large database reads half a dozen. 2 GiB is the library's maximum; of a larger
    /// file the start is mapped.
    private func mapFile() throws(SQLError) { try run("PRAGMA mmap_size = 2147418112") }

    private func require(
        _ setting: String, _ name: String, is wanted: SQLValue
    ) throws(SQLError) {
        try run("PRAGMA \(setting)")
        let found = try run("PRAGMA \(name)")
        guard found == wanted else {
            throw SQLError(.other, "\(name) is \(found) instead of \(wanted)")
        }
    }
}

// A file of the C boundary: the handle is only looked at during the call.
extension SQLError {
    /// Reads what SQLite has to say about its last call.
    @safe init(database: OpaquePointer?, code: Int32, statement: String?) {
        let text = unsafe database.flatMap { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        let message = unsafe text.map { unsafe String(cString: $0) } ?? "no message"
        let systemError = unsafe database.map { unsafe sqlite3_system_errno($0) } ?? 0
        self.init(
            Kind(code: code, systemError: systemError), code: code, message, statement: statement)
    }
}

extension SQLError.Kind {
    /// SQLite's result codes (https://sqlite.org/rescode.html); the low byte is the primary one.
    init(code: Int32, systemError: Int32) {
        switch code & 0xFF {
        case SQLITE_FULL: self = .diskFull
        case SQLITE_IOERR where [ENOSPC, EDQUOT].contains(systemError): self = .diskFull
        case SQLITE_IOERR: self = .inputOutput
        case SQLITE_CORRUPT: self = .corrupt
        case SQLITE_NOTADB: self = .notADatabase
        case SQLITE_CANTOPEN: self = .cannotOpen
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: self = .locked
        case SQLITE_CONSTRAINT: self = Self.uniqueness.contains(code) ? .notUnique : .constraint
        case SQLITE_ERROR, SQLITE_MISUSE, SQLITE_RANGE: self = .misuse
        default: self = .other
        }
    }

    /// SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY and _ROWID, macros the importer leaves out.
    private static let uniqueness: [Int32] = [8, 6, 10].map { SQLITE_CONSTRAINT | $0 << 8 }
}
