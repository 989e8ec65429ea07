import CPostgres
import SQL

/// A connection to a PostgreSQL server in pipeline mode, used by one thread at a time.
///
/// Statements without a result are sent without waiting, together with the next statement that has one or with the
/// COMMIT: a change costs as many round trips as it has queries, and one more.
///
/// C boundary: this object owns the pointer from connecting to `close` or `deinit`.
@safe final class PostgresConnection: Connection {
    private let url: String
    private let session: PostgresSession
    private var pointer: OpaquePointer?
    private var delay = ReconnectDelay()
    private var statements = PreparedStatements()
    private var pendingResults: [PendingResult] = []
    private var hasBegun = false
    /// Whether the server has answered since the transaction began.
    private var hasAnswered = false
    private(set) var roundTrips = 0
    private var isClosed = false
    private(set) var isContended = false
    let cache = TransactionCache()

    /// The most statements sent before their results are read: more than the queries of a full batch, so that a
    /// commit does not wait for each part of them. libpq stores what arrives while it sends.
    private static let pendingLimit = 4096

    /// A result that the server has not sent yet, in the order of the statements.
    private enum PendingResult {
        case preparation(PreparedStatement)
        case statement(text: String, PreparedStatement?)
        /// A query whose rows go to a closure.
        case query(PreparedStatement, take: (any Rows) -> Void)
        /// A notification, whose failure is ignored.
        case notification
        /// A synchronisation point of the pipeline.
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
        guard pendingResults.isEmpty else { return .open }
        return switch unsafe PQtransactionStatus(pointer) {
        case PQTRANS_INTRANS: .open
        case PQTRANS_INERROR: .failed
        default: .none
        }
    }

    func begin(_ access: TransactionAccess) throws(SQLError) {
        try connect()
        hasBegun = true
        hasAnswered = false
        try send(PostgresDialect.begin(access))
        guard access == .writing else { return }
        try query(PostgresDialect.writerLock) { [unowned self] rows in
            isContended = (try? rows.next()) == true && rows.integer(at: 0) != 0
        }
    }

    func execute(_ sql: SQL) throws(SQLError) {
        try send(sql)
        if pendingResults.count >= Self.pendingLimit { try flush() }
    }

    func execute(_ template: StatementTemplate, with rows: [[SQLValue]]) throws(SQLError) {
        for values in rows { try execute(SQL(template: template, values: values)) }
    }

    func query(_ sql: SQL, _ take: @escaping (any Rows) -> Void) throws(SQLError) {
        try send(sql, take)
        if pendingResults.count >= Self.pendingLimit { try flush() }
    }

    func change(_ sql: SQL) throws(SQLError) -> Int {
        try send(sql)
        guard let result = try receiveResults() else { throw lost() }
        return result.changeCount
    }

    func query(_ sql: SQL) throws(SQLError) -> any Rows {
        let statement = try send(sql)
        guard let result = try receiveResults() else { throw lost() }
        return PostgresRows(result, of: statement)
    }

    func flush() throws(SQLError) {
        if !pendingResults.isEmpty { try receiveResults() }
    }

    func commit() throws(SQLError) {
        // A connection that broke before this transaction is noticed here, while nothing can have been committed.
        if !hasAnswered { try flush() }
        let result: PostgresResult?
        do {
            try send(Dialect.commit)
            result = try receiveResults()
        } catch {
            guard error.kind == .unreachable else { throw error }
            throw SQLError(.uncertain, error.message, statement: Dialect.commit)
        }
        hasBegun = false
        // The server answers ROLLBACK to the COMMIT of a failed transaction, without an error.
        guard result?.command == Dialect.commit else { throw .transactionLost }
    }

    func rollBack() {
        guard hasBegun else { return }
        // A failure loses nothing: without a COMMIT nothing is durable, and the next BEGIN reports an
        // unusable connection. The results are read with those of the next transaction.
        if pendingResults.contains(where: { if case .sync = $0 { false } else { true } }) {
            try? flush()
        }
        hasBegun = false
        guard unsafe pointer != nil else { return }
        try? send(Dialect.rollback)
        try? sync()
    }

    var isRemote: Bool { true }

    var hasListeners: Bool { true }

    func savepoint() throws(SQLError) { try send(Dialect.savepoint) }

    func rollBackToSavepoint() throws(SQLError) {
        // Results of the failed change are still in the pipeline; the next statement undoes the change.
        try? flush()
        try send(Dialect.rollbackToSavepoint)
        try flush()
    }

    func releaseSavepoint() throws(SQLError) { try send(Dialect.release) }

    func schema(_ statement: SQL) -> SQL { PostgresDialect.schema(statement) }

    /// The server needs no maintenance from here.
    func performMaintenance() {}
}

// MARK: - Connecting
extension PostgresConnection {
    private func connect() throws(SQLError) {
        guard !isClosed else { throw .closed }
        if let pointer = unsafe pointer, unsafe PQstatus(pointer) == CONNECTION_OK { return }
        disconnect()
        // An immediate retry gets the reason of the failure, not only that it comes too early.
        if let failure = delay.failure(at: .now) { throw failure }
        do {
            try open()
            try prepareSession()
            delay.reset()
        } catch {
            disconnect()
            delay.grow(at: .now, after: error)
            throw error
        }
    }

    /// Loads libpq, and validates a URL. The error omits what libpq would quote of it, which may hold a password.
    static func requireURL(_ url: String) throws(SQLError) {
        if let reason = unsafe postgres_load() {
            throw SQLError(
                .other,
                unsafe "libpq 14 or newer could not be loaded; install libpq5: \(String(cString: reason))"
            )
        }
        var message: UnsafeMutablePointer<CChar>?
        let options = unsafe PQconninfoParse(url, &message)
        defer {
            unsafe PQconninfoFree(options)
            unsafe PQfreemem(message)
        }
        if let options = unsafe options { return try unsafe requireWords(options) }
        let text = unsafe message.map { unsafe String(cString: $0) } ?? ""
        let reason = text.prefix { character in character != "\"" && character != "\n" }
        throw SQLError(
            .misuse,
            "the URL is not understood: \(reason.drop(while: { $0 == " " }).split(separator: ":").first ?? "")"
        )
    }

    /// Validates the values that libpq checks only when it connects.
    private static func requireWords(
        _ options: UnsafePointer<PQconninfoOption>
    ) throws(SQLError) {
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            defer { unsafe option += 1 }
            guard let value = unsafe option.pointee.val else { continue }
            let (name, text) = unsafe (String(cString: keyword), String(cString: value))
            let isKnown =
                switch name {
                case "port":
                    text.split(separator: ",").allSatisfy { (1...65_535).contains(Int($0) ?? 0) }
                case "sslmode":
                    ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
                        .contains(text)
                default: true
                }
            guard isKnown else {
                throw SQLError(.misuse, "the URL is not understood: there is no such \(name)")
            }
        }
    }

    func disconnect() {
        statements = PreparedStatements()
        pendingResults = []
        hasBegun = false
        unsafe PQfinish(pointer)
        unsafe pointer = nil
    }

    private func open() throws(SQLError) {
        // Options after `dbname` override the URL, those before it are defaults: a connection always goes to
        // a server that accepts writes, and text is UTF-8.
        let options = [
            ("application_name", "parley"), ("connect_timeout", "5"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "15000"),
            ("dbname", url), ("target_session_attrs", "read-write"), ("client_encoding", "UTF8"),
        ]
        let connection = unsafe withCStrings(options.map(\.0)) { names in
            unsafe withCStrings(options.map(\.1)) { values in
                unsafe PQconnectdbParams(names, values, 1)
            }
        }
        unsafe pointer = connection
        guard unsafe PQstatus(connection) == CONNECTION_OK else { throw unreachable() }
        // The default receiver prints notices of the server to standard error.
        _ = unsafe PQsetNoticeReceiver(connection, { _, _ in }, nil)
        guard unsafe PQenterPipelineMode(connection) == 1 else { throw unreachable() }
    }

    private func prepareSession() throws(SQLError) {
        let rows = try query(session.opening)
        guard try rows.next() else { throw lost() }
        guard rows.text(at: 0) == "on" else {
            throw SQLError(.other, "fsync is off: what is committed is lost when the power fails")
        }
        guard rows.text(at: 1) == "UTF8" else {
            throw SQLError(.other, "the encoding of the database is not UTF8")
        }
        guard !rows.isNull(at: 2) else {
            throw SQLError(.other, "no schema of the search path exists")
        }
    }

    private func live() throws(SQLError) -> OpaquePointer {
        guard let pointer = unsafe pointer else { throw lost() }
        return unsafe pointer
    }

    private func unreachable() -> SQLError {
        let text = unsafe PQerrorMessage(pointer).map { unsafe String(cString: $0) } ?? ""
        let lines = text.split(separator: "\n").map { line in line.drop { $0 == "\t" } }
        return SQLError(
            .unreachable, lines.isEmpty ? "the server has left" : lines.joined(separator: "; "))
    }

    /// Closes a broken connection, and returns its error.
    private func lost() -> SQLError {
        defer { disconnect() }
        return unreachable()
    }
}

// MARK: - Pipeline
extension PostgresConnection {
    /// Sends a statement without parameters, unprepared.
    private func send(_ text: String) throws(SQLError) {
        let pointer = try unsafe live()
        let isSent = unsafe PQsendQueryParams(pointer, text, 0, nil, nil, nil, nil, 1)
        guard isSent == 1 else { throw lost() }
        pendingResults.append(.statement(text: text, nil))
    }

    /// - Parameter take: Called with the rows when they arrive.
    @discardableResult
    private func send(
        _ sql: SQL, _ take: ((any Rows) -> Void)? = nil
    ) throws(SQLError) -> PreparedStatement {
        let statement = try sendPrepared(sql)
        if let take {
            pendingResults.append(.query(statement, take: take))
        } else {
            pendingResults.append(.statement(text: statement.text, statement))
        }
        return statement
    }

    /// Sends a prepared statement; the caller notes its pending result.
    private func sendPrepared(_ sql: SQL) throws(SQLError) -> PreparedStatement {
        let pointer = try unsafe live()
        let statement = try prepared(sql)
        let isSent = unsafe PostgresParameters(sql.values).withPointers {
            count, values, lengths, formats in
            unsafe PQsendQueryPrepared(
                pointer, statement.name, count, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        return statement
    }

    private func prepared(_ sql: SQL) throws(SQLError) -> PreparedStatement {
        let types = sql.values.map(\.postgresType)
        if let known = statements.use(sql.template, types) { return known }
        let (statement, given) = statements.make(sql.template, types)
        for name in given { try send("DEALLOCATE \(name)") }
        let pointer = try unsafe live()
        let isSent = unsafe PQsendPrepare(
            pointer, statement.name, statement.text, Int32(statement.types.count), statement.types)
        guard isSent == 1 else { throw lost() }
        pendingResults.append(.preparation(statement))
        return statement
    }

    private func sync() throws(SQLError) {
        let pointer = try unsafe live()
        guard unsafe PQpipelineSync(pointer) == 1 else { throw lost() }
        pendingResults.append(.sync)
    }

    /// Waits for all pending results.
    ///
    /// - Returns: The result of the last statement.
    /// - Throws: The first error; later statements were not run.
    @discardableResult
    private func receiveResults() throws(SQLError) -> PostgresResult? {
        try sync()
        roundTrips += 1
        let pointer = try unsafe live()
        var fault: SQLError?
        var last: PostgresResult?
        for expected in pendingResults {
            if case .sync = expected {
                guard let end = unsafe PostgresResult(PQgetResult(pointer)), end.isSync else {
                    throw fault.map(broken) ?? lost()
                }
                continue
            }
            last = nil
            while let result = unsafe PostgresResult(PQgetResult(pointer)) {
                guard result.isSuccess else {
                    note(result, expected, &fault)
                    continue
                }
                last = result
                if case .query(let statement, let take) = expected {
                    take(PostgresRows(result, of: statement))
                }
            }
        }
        pendingResults.removeAll(keepingCapacity: true)
        hasAnswered = true
        guard unsafe PQstatus(pointer) == CONNECTION_OK else { throw fault.map(broken) ?? lost() }
        if let fault { throw fault }
        return last
    }

    private func note(_ result: PostgresResult, _ expected: PendingResult, _ fault: inout SQLError?)
    {
        switch expected {
        case .preparation(let statement):
            statements.forget(statement)
            if !result.isSkipped { fault = fault ?? SQLError(result, statement: statement.text) }
        case .statement(let text, let statement): note(result, text, statement, &fault)
        case .query(let statement, _): note(result, statement.text, statement, &fault)
        case .notification, .sync: break
        }
    }

    private func note(
        _ result: PostgresResult, _ text: String, _ statement: PreparedStatement?,
        _ fault: inout SQLError?
    ) {
        guard !result.isSkipped else { return }
        let error = SQLError(result, statement: text)
        fault = fault ?? error
        // The tables have changed since the statement was prepared.
        if error.kind == .collided, let statement { statements.forget(statement) }
    }

    /// Closes the connection after an error of the server.
    private func broken(_ fault: SQLError) -> SQLError {
        disconnect()
        return SQLError(.unreachable, fault.message, statement: fault.statement)
    }
}

// MARK: - Notifications
extension PostgresConnection {
    /// Sends the notifications; their results are read with those of the next transaction.
    ///
    /// From a NOTIFY to the end of its transaction, PostgreSQL holds a lock of the whole server. Outside the
    /// transaction that made the changes, it is not held while a commit waits for the disk.
    func notify(_ texts: [String]) {
        // A failure loses only the notifications, and is found again by the next transaction.
        do {
            for text in texts {
                _ = try sendPrepared(PostgresDialect.notify(text))
                pendingResults.append(.notification)
            }
            try sync()
        } catch {}
    }

    /// Starts to listen, and waits until the server has confirmed it.
    func beginListening() throws(SQLError) {
        try connect()
        let rows = try query(PostgresDialect.listening)
        guard try rows.next(), let text = rows.text(at: 0) else { throw lost() }
        try send(text)
        try flush()
    }

    /// The descriptor to poll; -1 without a connection.
    var socket: Int32 { unsafe PQsocket(pointer) }

    /// The notifications received since the last call.
    func notifications() throws(SQLError) -> [String] {
        let pointer = try unsafe live()
        guard unsafe PQconsumeInput(pointer) == 1 else { throw lost() }
        var texts: [String] = []
        while let notice = unsafe PQnotifies(pointer) {
            unsafe texts.append(String(cString: notice.pointee.extra))
            unsafe PQfreemem(notice)
        }
        guard unsafe PQstatus(pointer) == CONNECTION_OK else { throw lost() }
        return texts
    }
}

/// Calls a closure with texts as an array of C strings that ends in `NULL`.
private func withCStrings<Value>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value
) -> Value {
    var (bytes, starts): ([CChar], [Int]) = ([], [])
    for text in texts {
        starts.append(bytes.count)
        bytes += text.utf8CString
    }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
        let pointers = unsafe starts.map { start in
            unsafe bytes.baseAddress.map { unsafe $0 + start }
        }
        return unsafe body(pointers + [nil])
    }
}
