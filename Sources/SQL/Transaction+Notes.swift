// What the changes of one commit know together, and write together.
extension Transaction {
    /// Asks a question whose answer is wanted later.
    ///
    /// Over a network all that is asked before the first answer is wanted costs one round trip; on a file it
    /// is answered at once.
    ///
    /// - Parameters:
    ///   - sql: A `SELECT`.
    ///   - fact: What the answer says. Who asks the same again, in this change or a later one of the same
    ///     commit, gets it without a statement, unless one has changed something in a table of the fact
    ///     since. Of these tables the statement looks at no other row.
    public func ask<Value>(
        _ sql: @autoclosure () -> SQL, as fact: Fact<Value>? = nil,
        _ make: @escaping (borrowing Row) throws -> Value
    ) throws(SQLError) -> Finding<Value> {
        if let fact, let known = connection.notebook.answer(to: fact) { return known }
        let sql = sql()
        try prepare(sql, about: fact?.rows ?? [])
        let answer = Finding<Value>(on: connection)
        try connection.ask(sql) { rows in answer.take(rows, make) }
        if let fact { connection.notebook.know(answer, of: fact) }
        return answer
    }

    /// What a row holds, as far as it was asked for in this commit and cannot have changed since.
    public func known<Value>(_ fact: Fact<Value>) throws -> Value? {
        try connection.notebook.answer(to: fact)?.first()
    }

    /// Says what a row holds now, after it was changed by what is postponed.
    public func know<Value>(_ value: Value, of fact: Fact<Value>) {
        connection.notebook.know(Finding(value), of: fact)
    }

    /// What was handed over with the statement that is still to write a row; `nil` when none is.
    public func postponed<Value>(_ fact: Fact<Value>) -> Value? {
        connection.notebook.postponed(fact)
    }

    /// Has a statement run before the next one that looks at the row, at the latest with the commit; when it
    /// is postponed anew before that, only the last one runs.
    ///
    /// For a row that many changes of a commit write: it is written once for them all. Whoever knows something
    /// of the row says what is true now (``know(_:of:)``).
    ///
    /// - Parameters:
    ///   - value: What the next one wants to know who postpones it.
    ///   - fact: Names the row in its first table.
    public func postpone<Value>(
        _ value: Value, of fact: Fact<Value>, writing sql: @escaping () -> SQL
    ) {
        hasChanged = true
        connection.notebook.postpone(value, of: fact, writing: sql)
    }

    /// Adds a row before the next statement that looks at it, at the latest with the commit: together with
    /// others of its table, which is a fraction of the work for a server.
    ///
    /// - Parameters:
    ///   - values: In brackets, in the order of the insertion.
    ///   - table: As statements name it.
    ///   - key: What facts tell the row by.
    public func add(_ values: SQL, to table: String, key: [UInt8], by insertion: Insertion) {
        hasChanged = true
        connection.notebook.add(values, RowKey(table: table, key: key), by: insertion)
    }
}
