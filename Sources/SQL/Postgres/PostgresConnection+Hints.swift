import CPostgres

// A file of the C boundary: see ``PostgresConnection``.
extension PostgresConnection {
    /// Has the others told when this transaction commits.
    func hint(_ texts: [String]) throws(SQLError) {
        for text in texts { try execute(PostgresDialect.hint(text)) }
    }

    /// Makes the connection one that is told, and waits until it is.
    func beginListening() throws(SQLError) {
        try connect()
        let rows = try query(PostgresDialect.listening)
        guard try rows.next(), let words = rows.text(at: 0) else { throw lost() }
        try send(words)
        try settle()
    }

    /// What can be waited at; -1 without a connection.
    var socket: Int32 { unsafe PQsocket(pointer) }

    /// Everything that has been said since the last call.
    func heard() throws(SQLError) -> [String] {
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
