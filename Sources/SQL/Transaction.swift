/// A transaction while it runs: it exists only inside the closure that was handed to the database.
///
/// Everything here blocks its thread, which is the database's own.
public final class Transaction {
    private let connection: Connection
    private(set) var hooks: [@Sendable () -> Void] = []
    private(set) var brackets: [CommitBracket] = []

    init(on connection: Connection) { self.connection = connection }

    /// Runs a statement.
    ///
    /// - Returns: How many rows it has inserted, changed or deleted.
    @discardableResult
    public func execute(_ sql: SQL) throws(SQLError) -> Int {
        let before = connection.totalChanges
        let statement = try bound(sql)
        defer { connection.takeBack(statement) }
        while try statement.step() {}
        return Int(connection.totalChanges - before)
    }

    /// Makes a value of each row.
    public func rows<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value
    ) throws -> [Value] {
        let statement = try bound(sql)
        defer { connection.takeBack(statement) }
        var values: [Value] = []
        while try statement.step() { values.append(try make(Row(statement: statement))) }
        return values
    }

    /// Makes a value of the first row; `nil` when there is none. Further rows are not looked at.
    ///
    /// A statement that changes rows has changed them all by then, so this suits `RETURNING`.
    public func first<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value
    ) throws -> Value? {
        let statement = try bound(sql)
        defer { connection.takeBack(statement) }
        guard try statement.step() else { return nil }
        return try make(Row(statement: statement))
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

    /// The statement with its values bound; whoever asks for it has to give it back.
    private func bound(_ sql: SQL) throws(SQLError) -> Statement {
        // After a full disk the engine may have rolled back already, and what follows would be
        // committed on its own.
        guard connection.isInTransaction else {
            throw SQLError(
                .transactionLost, "the transaction has ended before this", statement: sql.text)
        }
        let statement = try connection.statement(for: sql.phrase)
        do {
            try statement.bind(sql.values)
        } catch {
            connection.takeBack(statement)
            throw error
        }
        return statement
    }
}

/// What is called around a commit.
struct CommitBracket: Sendable {
    let before: @Sendable () -> Void
    let after: @Sendable () -> Void
}
