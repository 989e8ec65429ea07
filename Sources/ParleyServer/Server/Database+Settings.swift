import FoundationEssentials
import MessagingStore
import SQL
import SQLPostgres

extension Settings {
    /// The location of the database.
    ///
    /// - Throws: ``CommandFailure`` when the file with its URL cannot be read or does not hold a
    ///   valid URL.
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
                "the file \(path) of database.url_file must contain \(SettingKind.databaseURL.rule)"
            )
        }
        return .server(url)
    }

    /// Validates the location of the database without opening it.
    ///
    /// - Throws: ``CommandFailure`` with the text that opening it would give.
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
    /// Opens the database of the settings and migrates its schema.
    ///
    /// - Parameter onCommit: Called with the duration of each commit.
    /// - Throws: ``CommandFailure`` with the reason; never with the database's URL.
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

    /// The reason of an error, as the end of a sentence that begins with the database's name.
    static func reason(_ error: SQLError) -> String {
        switch error.kind {
        case .schema: "was written by another release: \(error.message)"
        case .unfinished: "is an unfinished migration (\(error.message)): run parley migrate again"
        case .corrupt, .notADatabase:
            "is damaged (\(error.message)): restore a backup with parley restore"
        case .unreachable: "cannot be reached: \(error.message)"
        case .readOnly, .cannotOpen: "cannot be opened or written: \(error.message)"
        case .locked: "is locked by another process"
        case .diskFull: "is on a full disk"
        default: "cannot be used: \(error.message)"
        }
    }
}
