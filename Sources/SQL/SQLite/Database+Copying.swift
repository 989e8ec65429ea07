import CSQLite

extension Database {
    /// Copies a snapshot of a database file into a new file, while other processes may write to it.
    ///
    /// Blocks. When it returns, the copy has been checked and is durable, except for its directory entry. Until
    /// then the write-ahead log of the source cannot restart, so it grows by what is written.
    ///
    /// - Parameters:
    ///   - target: The path of a file that does not exist, or is empty.
    ///   - migrations: All schema migrations; the source, which is not changed, must have all of them.
    ///   - progress: Called with the bytes copied so far and the bytes of the whole.
    /// - Throws: ``SQLError``: ``SQLError/Kind/schema`` for another history, ``SQLError/Kind/corrupt`` and
    ///   ``SQLError/Kind/notADatabase`` when the source is damaged, ``SQLError/Kind/diskFull``.
    public static func copy(
        file source: String, to target: String, migrations: [SchemaMigration],
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
            // The first read takes the snapshot that is copied.
            try SchemaMigrator(migrations: migrations, now: settings.now).requireWholeHistory(
                transaction)
            try reading.copy(over: writing, progress)
        }
        try writing.requireSoundness()
    }
}

// C boundary: both connections outlive the copy, and its handle does not leave the function.
extension SQLiteConnection {
    private static let pagesAtOnce: Int32 = 1024

    /// Replaces the content of another connection by the snapshot of the open transaction.
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
        // `finish` reports the error too; its message belongs to the target's connection.
        let end = unsafe sqlite3_backup_finish(copying)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw unsafe SQLError(
                database: target.pointer, code: end == SQLITE_OK ? code : end, statement: nil)
        }
    }

    /// Checks the whole database.
    ///
    /// - Throws: ``SQLError/Kind/corrupt`` with the first defect.
    fileprivate func requireSoundness() throws(SQLError) {
        let found = try run("PRAGMA integrity_check(1)")
        guard found == .text("ok") else {
            guard case .text(let fault) = found else { throw SQLError(.corrupt, "unreadable") }
            throw SQLError(.corrupt, fault)
        }
    }
}
