import CSQLite

extension Database {
    /// Copies the database of a file, as it is at one moment, into a file of its own; whoever serves it goes
    /// on meanwhile.
    ///
    /// Blocks. When it returns, the copy has been looked through and is durable, but for its name. Until then
    /// the log of the source cannot begin anew, so it grows by what is written.
    ///
    /// - Parameters:
    ///   - target: The path of a file that is not there, or empty.
    ///   - migrations: The whole history; the source must have all of it, because it is not changed.
    ///   - progress: Told how many bytes are copied, and of how many.
    /// - Throws: ``SQLError``: ``SQLError/Kind/schema`` for another history, ``SQLError/Kind/corrupt`` and
    ///   ``SQLError/Kind/notADatabase`` when the source is damaged, ``SQLError/Kind/diskFull``.
    public static func copy(
        file source: String, to target: String, migrations: [Migration],
        progress: (Int64, Int64) -> Void = { _, _ in }
    ) throws {
        let settings = DatabaseSettings()
        let reading = try SQLiteConnection(
            path: source, access: .readOnly, busyTimeout: settings.busyTimeout)
        defer { reading.close() }
        try reading.prepareForReading()
        let writing = try SQLiteConnection(
            path: target, access: .readWrite, busyTimeout: settings.busyTimeout)
        defer { writing.close() }
        try writing.run("PRAGMA synchronous = FULL")
        try reading.read { transaction in
            // The first look, which fixes what is copied.
            try Migrator(migrations: migrations, now: settings.now).requireWholeHistory(transaction)
            try reading.copy(over: writing, progress)
        }
        try writing.requireSoundness()
    }
}

// A file of the C boundary: both connections outlive the copying, and its handle does not leave it.
extension SQLiteConnection {
    private static let pagesAtOnce: Int32 = 1024

    /// Copies what the open transaction sees over everything another connection has.
    fileprivate func copy(
        over target: SQLiteConnection, _ progress: (Int64, Int64) -> Void
    ) throws(SQLError) {
        guard case .integer(let pageSize) = try run("PRAGMA page_size") else { throw .closed }
        guard
            let copying = unsafe sqlite3_backup_init(target.pointer, "main", pointer, "main")
        else {
            let code = unsafe sqlite3_errcode(target.pointer)
            throw unsafe SQLError(database: target.pointer, code: code, statement: nil)
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = unsafe sqlite3_backup_step(copying, Self.pagesAtOnce)
            let total = unsafe Int64(sqlite3_backup_pagecount(copying))
            let rest = unsafe Int64(sqlite3_backup_remaining(copying))
            progress((total - rest) * pageSize, total * pageSize)
        }
        // What went wrong is told by the end, too, and stands with the connection that is written.
        let end = unsafe sqlite3_backup_finish(copying)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw unsafe SQLError(
                database: target.pointer, code: end == SQLITE_OK ? code : end, statement: nil)
        }
    }

    /// Looks through all of the database.
    ///
    /// - Throws: ``SQLError/Kind/corrupt`` with the first thing that is wrong.
    fileprivate func requireSoundness() throws(SQLError) {
        let found = try run("PRAGMA integrity_check(1)")
        guard found == .text("ok") else {
            guard case .text(let fault) = found else { throw SQLError(.corrupt, "unreadable") }
            throw SQLError(.corrupt, fault)
        }
    }
}
