import FoundationEssentials
import MessagingStore
import SQL

extension Settings {
    /// Where the database lies.
    ///
    /// - Throws: ``CommandFailure`` when the file that holds its URL cannot be read, or holds something else.
    func databaseLocation() throws(CommandFailure) -> DatabaseLocation {
        if let databaseURL { return .server(databaseURL) }
        guard let path = databaseURLFile else { return .file("\(dataFolder)/parley.sqlite") }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("the file \(path) of database.url_file cannot be read")
        }
        var text = String(decoding: bytes, as: UTF8.self)
        // Editors end a file with a line break.
        while text.last?.isWhitespace == true { text.removeLast() }
        guard let url = SettingKind.databaseURL.value(text)?.text else {
            throw CommandFailure(
                "the file \(path) of database.url_file must hold \(SettingKind.databaseURL.rule)")
        }
        return .server(url)
    }
}

extension Settings {
    /// Judges where the database lies without opening it, in the words of whoever would.
    ///
    /// - Throws: ``CommandFailure``.
    func checkDatabaseLocation() throws(CommandFailure) {
        let location = try databaseLocation()
        do {
            try location.check()
        } catch {
            throw CommandFailure(error, at: location, self)
        }
    }
}

extension Database {
    /// Opens the database of the settings, and brings it up to date.
    ///
    /// - Parameter onCommit: Told how long each commit took.
    /// - Throws: ``CommandFailure`` with what is wrong with it; never with its URL.
    static func open(
        _ settings: Settings, onCommit: @escaping @Sendable (Duration) -> Void = { _ in }
    ) throws(CommandFailure) -> Database {
        var databaseSettings = DatabaseSettings()
        databaseSettings.onCommit = onCommit
        databaseSettings.readers = settings.readers
        let location = try settings.databaseLocation()
        if case .file = location { try DataFolder(path: settings.dataFolder).requireWhole() }
        do {
            return try Database.open(
                location, migrations: MessagingStore.migrations, settings: databaseSettings)
        } catch let error as SQLError {
            throw CommandFailure(error, at: location, settings)
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}

extension CommandFailure {
    fileprivate init(_ error: SQLError, at location: DatabaseLocation, _ settings: Settings) {
        switch location {
        case .file, .temporary:
            self.init("the database in \(settings.dataFolder) \(Self.reason(error))")
        case .server:
            let key = settings.databaseURL == nil ? "database.url_file" : "database.url"
            self.init("the database of \(key) \(Self.reason(error))")
        }
    }

    /// What is wrong with a database, behind its name.
    static func reason(_ error: SQLError) -> String {
        switch error.kind {
        case .schema: "was written by another release: \(error.message)"
        case .unfinished: "is half moved (\(error.message)): call parley migrate again"
        case .corrupt, .notADatabase:
            "is damaged (\(error.message)): bring back what was saved with parley restore"
        case .unreachable: "cannot be reached: \(error.message)"
        case .readOnly, .cannotOpen: "cannot be opened or written: \(error.message)"
        case .locked: "is held by another process"
        case .diskFull: "is on a full disk"
        default: "cannot be used: \(error.message)"
        }
    }
}
