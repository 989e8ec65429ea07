/// A transaction while it runs: it exists only inside the closure that was handed to the database.
///
/// Everything here blocks its thread, which is the database's own.
public final class Transaction {
    private let connection: Connection
    private(set) var hooks: [@Sendable () -> Void] = []

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

    /// The statement with its values bound; whoever asks for it has to give it back.
    private func bound(_ sql: SQL) throws(SQLError) -> Statement {
        // After a full disk the engine may have rolled back already, and what follows would be
        // committed on its own.
        guard connection.isInTransaction else {
            throw SQLError(
                .transactionLost, "the transaction has ended before this", statement: sql.text)
        }
        let statement = try connection.statement(for: sql.text)
        do {
            try statement.bind(sql.values)
        } catch {
            connection.takeBack(statement)
            throw error
        }
        return statement
    }
}
