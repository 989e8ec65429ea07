/// A transaction while it runs: it exists only inside the closure that was handed to the database.
///
/// Everything here blocks its thread, which is the database's own.
public final class Transaction {
    let connection: any Connection
    private(set) var hooks: [@Sendable () -> Void] = []
    private(set) var brackets: [CommitBracket] = []
    private(set) var hints = Hints()
    /// Whether a statement has run that is no `SELECT`: there may be something to undo.
    var hasChanged = false

    init(on connection: any Connection) { self.connection = connection }

    /// Runs a statement that changes something.
    ///
    /// Over a network several of them travel together: what goes wrong may be thrown by a later
    /// statement, or by whoever has handed in the change. Either way nothing of it is kept.
    public func execute(_ sql: SQL) throws(SQLError) {
        try prepare(sql)
        hasChanged = true
        try connection.execute(sql)
    }

    /// Runs a statement at once.
    ///
    /// - Returns: How many rows it has inserted, changed or deleted.
    public func rowsChanged(by sql: SQL) throws(SQLError) -> Int {
        try prepare(sql)
        hasChanged = true
        return try connection.change(sql)
    }

    /// Makes a value of each row.
    public func rows<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value
    ) throws -> [Value] {
        let rows = try query(sql)
        defer { rows.finish() }
        var values: [Value] = []
        while try rows.next() { values.append(try make(Row(rows: rows))) }
        return values
    }

    /// Makes values of rows as long as one can be made: `nil` ends it, and further rows are not looked at.
    public func prefix<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value?
    ) throws -> [Value] {
        let rows = try query(sql)
        defer { rows.finish() }
        var values: [Value] = []
        while try rows.next(), let value = try make(Row(rows: rows)) { values.append(value) }
        return values
    }

    /// Makes a value of the first row; `nil` when there is none. Further rows are not looked at.
    ///
    /// A statement that changes rows has changed them all by then, so this suits `RETURNING`.
    public func first<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value
    ) throws -> Value? {
        let rows = try query(sql)
        defer { rows.finish() }
        guard try rows.next() else { return nil }
        return try make(Row(rows: rows))
    }

    /// Has `run` called once the change is durable, before its caller hears of it; never when it is
    /// rolled back.
    ///
    /// Called on the writer's thread, which waits: signal somebody, do not work. In a read it is
    /// never called.
    public func afterCommit(_ run: @escaping @Sendable () -> Void) { hooks.append(run) }

    /// Has one thing called before the commit that lets others see the change, and another after it,
    /// whether it succeeded or not; neither when the change is rolled back before.
    ///
    /// For who answers from what he remembers of the rows. Called as ``afterCommit(_:)`` is, on the
    /// writer's thread, and no caller hears of his change before.
    public func aroundCommit(
        before: @escaping @Sendable () -> Void, after: @escaping @Sendable () -> Void
    ) {
        brackets.append(CommitBracket(before: before, after: after))
    }

    /// Tells other processes that share the database and listen (``Database/listen(_:)``) where to look
    /// once the change is durable; nobody when it is rolled back. On a file nobody listens.
    ///
    /// - Parameters:
    ///   - subject: One word, at most 200 octets, without spaces.
    ///   - better: Which of two numbers is said of a subject that the changes of one commit name twice.
    public func hint(
        _ subject: String, _ number: Int64,
        keeping better: @escaping @Sendable (Int64, Int64) -> Int64 = { max($0, $1) }
    ) {
        if connection.isHeard { hints.note(subject, number, better) }
    }

    private func query(_ sql: SQL) throws(SQLError) -> any Rows {
        try prepare(sql)
        if !sql.phrase.isSelect { hasChanged = true }
        return try connection.query(sql)
    }

    /// - Parameter rows: The only ones of their tables that the statement looks at.
    func prepare(_ sql: SQL, about rows: [RowKey] = []) throws(SQLError) {
        try requireOpen(sql)
        try connection.notebook.prepare(for: sql, about: rows, on: connection)
    }

    /// After a fault the engine may have rolled back already, and what follows would be committed on
    /// its own.
    private func requireOpen(_ sql: SQL) throws(SQLError) {
        guard connection.state == .open else {
            throw SQLError(
                .transactionLost, "the transaction has ended before this", statement: sql.text)
        }
    }
}

/// What is called around a commit.
struct CommitBracket: Sendable {
    let before: @Sendable () -> Void
    let after: @Sendable () -> Void
}
