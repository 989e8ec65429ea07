extension Database {
    /// Opens a database, makes it where there is none, and brings its schema up to date.
    ///
    /// Blocks; meant for the start of a program.
    ///
    /// - Parameters:
    ///   - migrations: The whole history, numbered upwards.
    /// - Throws: ``SQLError``: ``SQLError/Kind/schema`` when a newer release has written the database,
    ///   ``SQLError/Kind/notADatabase``, ``SQLError/Kind/corrupt``, ``SQLError/Kind/readOnly``,
    ///   ``SQLError/Kind/cannotOpen``, ``SQLError/Kind/locked`` or ``SQLError/Kind/diskFull``.
    public static func open(
        _ location: DatabaseLocation, migrations: [Migration],
        settings: DatabaseSettings = DatabaseSettings()
    ) throws -> Database {
        var folder: TemporaryFolder?
        let path: String
        switch location {
        case .file(let file):
            path = file
        case .temporary:
            let temporary = try TemporaryFolder()
            folder = temporary
            path = "\(temporary.path)/database"
        }

        let writing = try Connection(writingTo: path, settings)
        try Migrator(migrations: migrations, now: settings.now).migrate(writing)
        // After the settings, which use the same hook.
        writing.countWALPages()
        let checkpointer = Checkpointer(
            try Connection(writingTo: path, settings), interval: settings.checkpointInterval)
        let readers = try Readers(count: settings.readers) { () throws(SQLError) in
            try Connection(readingFrom: path, settings)
        }
        return Database(
            writer: Writer(writing, checkpointer: checkpointer, onCommit: settings.onCommit),
            readers: readers,
            checkpointer: checkpointer, folder: folder)
    }
}

extension Connection {
    fileprivate convenience init(
        writingTo path: String, _ settings: DatabaseSettings
    ) throws(SQLError) {
        try self.init(path: path, access: .readWrite, busyTimeout: settings.busyTimeout)
        try prepareForWriting(settings)
    }

    fileprivate convenience init(
        readingFrom path: String, _ settings: DatabaseSettings
    ) throws(SQLError) {
        try self.init(path: path, access: .readOnly, busyTimeout: settings.busyTimeout)
        try prepareForReading()
    }
}
