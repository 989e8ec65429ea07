extension Connection {
    /// Runs one change in a transaction of its own.
    @discardableResult
    func write<Value>(_ change: (Transaction) throws -> Value) throws -> Value {
        try run(Dialect.beginWriting)
        do {
            let value = try change(Transaction(on: self))
            try run(Dialect.commit)
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Looks at one snapshot.
    func read<Value>(_ look: (Transaction) throws -> Value) throws -> Value {
        try run(Dialect.beginReading)
        // A read changes nothing, so ending it this way loses nothing, whether it threw or not.
        defer { rollBack() }
        return try look(Transaction(on: self))
    }

    /// Ends the transaction without its changes.
    func rollBack() {
        guard isInTransaction else { return }
        // Nothing is lost when this fails: without a COMMIT nothing was durable, and the next BEGIN
        // says that the connection is unusable.
        _ = try? run(Dialect.rollback)
    }
}
