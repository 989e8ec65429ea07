import CPostgres

/// One connection to a PostgreSQL server, always in pipeline mode; used by one thread at a time.
///
/// Statements whose result nobody wants are sent and not waited for: they travel together with the next
/// one that is asked for an answer, and so a change costs as many round trips as it has questions.
///
/// A file of the C boundary. The pointer is this object's own from connecting to `close` or `deinit`.
@safe final class PostgresConnection: Connection {
    let url: String
    let session: PostgresSession
    var pointer: OpaquePointer?
    var delay = ReconnectDelay()
    var statements = PreparedStatements()
    var awaited: [Awaited] = []
    var hasBegun = false
    var isClosed = false
    let notebook = Notebook()

    /// The most statements sent before somebody asks how they went.
    private static let awaitedLimit = 128

    /// What is still to be heard from the server, in order.
    enum Awaited {
        case preparation(PreparedStatement)
        case statement(text: String, PreparedStatement?)
        /// One whose rows somebody takes.
        case question(PreparedStatement, take: (any Rows) -> Void)
        /// The end of a piece of the pipeline.
        case sync
    }

    /// Connects when it is first used.
    init(to url: String, _ session: PostgresSession) {
        self.url = url
        self.session = session
    }

    deinit { close() }

    func close() {
        isClosed = true
        disconnect()
    }

    var state: TransactionState {
        guard hasBegun, let pointer = unsafe pointer else { return .none }
        guard awaited.isEmpty else { return .open }
        return switch unsafe PQtransactionStatus(pointer) {
        case PQTRANS_INTRANS: .open
        case PQTRANS_INERROR: .failed
        default: .none
        }
    }

    func begin(_ access: TransactionAccess) throws(SQLError) {
        try connect()
        hasBegun = true
        for words in PostgresDialect.begin(access) { try send(words) }
    }

    func execute(_ sql: SQL) throws(SQLError) {
        try send(sql)
        if awaited.count >= Self.awaitedLimit { try settle() }
    }

    func ask(_ sql: SQL, _ take: @escaping (any Rows) -> Void) throws(SQLError) {
        try send(sql, take)
        if awaited.count >= Self.awaitedLimit { try settle() }
    }

    func change(_ sql: SQL) throws(SQLError) -> Int {
        try send(sql)
        guard let result = try hear() else { throw lost() }
        return result.changeCount
    }

    func query(_ sql: SQL) throws(SQLError) -> any Rows {
        let statement = try send(sql)
        guard let result = try hear() else { throw lost() }
        return PostgresRows(result, of: statement)
    }

    func settle() throws(SQLError) {
        if !awaited.isEmpty { try hear() }
    }

    func commit() throws(SQLError) {
        try settle()
        let result: PostgresResult?
        do {
            try send(Dialect.commit)
            result = try hear()
        } catch {
            guard error.kind == .unreachable else { throw error }
            throw SQLError(.uncertain, error.message, statement: Dialect.commit)
        }
        hasBegun = false
        // What has failed is committed as ROLLBACK, and that is no error to the server.
        guard result?.command == Dialect.commit else { throw .transactionLost }
    }

    func rollBack() {
        guard hasBegun else { return }
        // Nothing is lost when any of this fails: without a COMMIT nothing is kept, and the next BEGIN
        // says that the connection is unusable. What it answers is heard by whoever comes next.
        if awaited.contains(where: { if case .sync = $0 { false } else { true } }) { try? settle() }
        hasBegun = false
        guard unsafe pointer != nil else { return }
        try? send(Dialect.rollback)
        try? sync()
    }

    var isRemote: Bool { true }

    var isHeard: Bool { true }

    func savepoint() throws(SQLError) { try send(Dialect.savepoint) }

    func rollBackToSavepoint() throws(SQLError) {
        // What the failed change has left in the pipeline is undone by the next line.
        try? settle()
        try send(Dialect.rollbackToSavepoint)
        try settle()
    }

    func releaseSavepoint() throws(SQLError) { try send(Dialect.release) }

    func schema(_ statement: SQL) -> SQL { PostgresDialect.schema(statement) }

    /// The server tidies up by itself.
    func tidyUp() {}
}
