import CPostgres

// A file of the C boundary: see ``PostgresConnection``.
extension PostgresConnection {
    func connect() throws(SQLError) {
        guard !isClosed else { throw .closed }
        if let pointer = unsafe pointer, unsafe PQstatus(pointer) == CONNECTION_OK { return }
        disconnect()
        // Whoever asks again at once hears why, instead of only that it is too early.
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

    /// Says what is wrong with a URL, without what libpq would repeat of it: there may be a password.
    static func requireURL(_ url: String) throws(SQLError) {
        var message: UnsafeMutablePointer<CChar>?
        let options = unsafe PQconninfoParse(url, &message)
        defer {
            unsafe PQconninfoFree(options)
            unsafe PQfreemem(message)
        }
        if let options = unsafe options { return try unsafe requireWords(options) }
        let said = unsafe message.map { unsafe String(cString: $0) } ?? ""
        let reason = said.prefix { character in character != "\"" && character != "\n" }
        throw SQLError(
            .misuse,
            "the URL is not understood: \(reason.drop(while: { $0 == " " }).split(separator: ":").first ?? "")"
        )
    }

    /// Says which value libpq would not take, which it tells only to whoever connects.
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
        awaited = []
        hasBegun = false
        unsafe PQfinish(pointer)
        unsafe pointer = nil
    }

    private func open() throws(SQLError) {
        // What the URL says goes before what stands above it, and not before what stands below: only a
        // server that may be written shows what was just committed, and all text here is UTF-8.
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
        // It would print what the server notes on our standard error.
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

    func live() throws(SQLError) -> OpaquePointer {
        guard let pointer = unsafe pointer else { throw lost() }
        return unsafe pointer
    }

    func unreachable() -> SQLError {
        let text = unsafe PQerrorMessage(pointer).map { unsafe String(cString: $0) } ?? ""
        let lines = text.split(separator: "\n").map { line in line.drop { $0 == "\t" } }
        return SQLError(
            .unreachable, lines.isEmpty ? "the server has left" : lines.joined(separator: "; "))
    }

    /// Lets go of a connection that has broken.
    func lost() -> SQLError {
        defer { disconnect() }
        return unreachable()
    }
}
