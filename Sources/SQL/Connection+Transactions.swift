extension Connection {
    /// Begins a transaction of which nothing is known yet.
    func start(_ access: TransactionAccess) throws(SQLError) {
        notebook.clear()
        try begin(access)
    }

    /// Runs one change in a transaction of its own.
    @discardableResult
    func write<Value>(_ change: (Transaction) throws -> Value) throws -> Value {
        try start(.writing)
        do {
            let value = try change(Transaction(on: self))
            try notebook.writeAll(on: self)
            try commit()
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Looks at one state; a second time when a connection has broken since it was last used.
    func read<Value>(_ look: (Transaction) throws -> Value) throws -> Value {
        do {
            return try lookOnce(look)
        } catch let error as SQLError where error.mayPass {
            return try lookOnce(look)
        }
    }

    private func lookOnce<Value>(_ look: (Transaction) throws -> Value) throws -> Value {
        try start(.reading)
        // A read changes nothing, so ending it this way loses nothing, whether it threw or not.
        defer { rollBack() }
        let value = try look(Transaction(on: self))
        try settle()
        return value
    }
}
