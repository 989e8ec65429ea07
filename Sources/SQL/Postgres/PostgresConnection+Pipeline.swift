import CPostgres

// A file of the C boundary: see ``PostgresConnection``.
extension PostgresConnection {
    /// Sends a statement without values that is not worth preparing.
    func send(_ words: String) throws(SQLError) {
        let pointer = try unsafe live()
        let isSent = unsafe PQsendQueryParams(pointer, words, 0, nil, nil, nil, nil, 1)
        guard isSent == 1 else { throw lost() }
        awaited.append(.statement(text: words, nil))
    }

    /// - Parameter take: Called with the rows once they are heard.
    @discardableResult
    func send(
        _ sql: SQL, _ take: ((any Rows) -> Void)? = nil
    ) throws(SQLError) -> PreparedStatement {
        let pointer = try unsafe live()
        let statement = try prepared(sql)
        let isSent = unsafe PostgresParameters(sql.values).withPointers {
            count, values, lengths, formats in
            unsafe PQsendQueryPrepared(
                pointer, statement.name, count, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        if let take {
            awaited.append(.question(statement, take: take))
        } else {
            awaited.append(.statement(text: statement.text, statement))
        }
        return statement
    }

    private func prepared(_ sql: SQL) throws(SQLError) -> PreparedStatement {
        let types = sql.values.map(\.postgresType)
        if let known = statements.use(sql.phrase, types) { return known }
        let (statement, given) = statements.make(sql.phrase, types)
        for name in given { try send("DEALLOCATE \(name)") }
        let pointer = try unsafe live()
        let isSent = unsafe PQsendPrepare(
            pointer, statement.name, statement.text, Int32(statement.types.count), statement.types)
        guard isSent == 1 else { throw lost() }
        awaited.append(.preparation(statement))
        return statement
    }

    func sync() throws(SQLError) {
        let pointer = try unsafe live()
        guard unsafe PQpipelineSync(pointer) == 1 else { throw lost() }
        awaited.append(.sync)
    }

    /// Hears everything that is awaited.
    ///
    /// - Returns: What the last statement has found.
    /// - Throws: The first fault of them; what came after it was not run.
    @discardableResult
    func hear() throws(SQLError) -> PostgresResult? {
        try sync()
        let pointer = try unsafe live()
        var fault: SQLError?
        var last: PostgresResult?
        for expected in awaited {
            if case .sync = expected {
                guard let end = unsafe PostgresResult(PQgetResult(pointer)), end.isSync else {
                    throw fault.map(broken) ?? lost()
                }
                continue
            }
            last = nil
            while let result = unsafe PostgresResult(PQgetResult(pointer)) {
                guard result.isGood else {
                    note(result, expected, &fault)
                    continue
                }
                last = result
                if case .question(let statement, let take) = expected {
                    take(PostgresRows(result, of: statement))
                }
            }
        }
        awaited.removeAll(keepingCapacity: true)
        guard unsafe PQstatus(pointer) == CONNECTION_OK else { throw fault.map(broken) ?? lost() }
        if let fault { throw fault }
        return last
    }

    private func note(_ result: PostgresResult, _ expected: Awaited, _ fault: inout SQLError?) {
        switch expected {
        case .preparation(let statement):
            statements.forget(statement)
            if !result.isSkipped { fault = fault ?? SQLError(result, statement: statement.text) }
        case .statement(let text, let statement): note(result, text, statement, &fault)
        case .question(let statement, _): note(result, statement.text, statement, &fault)
        case .sync: break
        }
    }

    private func note(
        _ result: PostgresResult, _ text: String, _ statement: PreparedStatement?,
        _ fault: inout SQLError?
    ) {
        guard !result.isSkipped else { return }
        let error = SQLError(result, statement: text)
        fault = fault ?? error
        // Its tables have changed since it was prepared.
        if error.kind == .collided, let statement { statements.forget(statement) }
    }

    /// What the server has said before it left.
    private func broken(_ fault: SQLError) -> SQLError {
        disconnect()
        return SQLError(.unreachable, fault.message, statement: fault.statement)
    }
}
