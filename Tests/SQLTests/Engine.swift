import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

/// A database engine; tests with all cases must give the same results on each.
enum Engine: CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres

    var testDescription: String {
        switch self {
        case .sqlite: "SQLite"
        case .postgres: "PostgreSQL"
        }
    }

    /// The location of a new, empty database.
    func location() -> DatabaseLocation {
        switch self {
        case .sqlite: .temporary
        case .postgres: .server(PostgresServer.shared.newSchema())
        }
    }

    /// A database that can be opened more than once.
    func reopenable() -> ReopenableDatabase {
        switch self {
        case .sqlite: ReopenableDatabase(file: TemporaryFile())
        case .postgres: ReopenableDatabase(location: location())
        }
    }

    /// Ends a transaction early, as the engine itself may do after a fault.
    func endTransaction(_ transaction: Transaction) throws {
        switch self {
        case .sqlite: try transaction.execute("ROLLBACK")
        // The error is ignored, as by a careless change.
        case .postgres: _ = try? transaction.rows("SELECT 1 / 0") { _ in 0 }
        }
    }

    /// A database with the table of people.
    func people(_ settings: DatabaseSettings = .longTimeouts) throws -> Database {
        try .open(location(), migrations: People.migrations, settings: settings)
    }
}

extension DatabaseSettings {
    /// Long timeouts: a blocked change waits for others, which take long when all tests run at once.
    static var longTimeouts: DatabaseSettings {
        var settings = DatabaseSettings()
        settings.idleTimeout = .seconds(900)
        return settings
    }
}

/// A database that can be closed and opened again.
struct ReopenableDatabase {
    let location: DatabaseLocation
    private let file: TemporaryFile?

    init(file: TemporaryFile) {
        self.file = file
        location = .file(file.path)
    }

    init(location: DatabaseLocation) {
        file = nil
        self.location = location
    }

    func open(
        migrations: [SchemaMigration] = People.migrations,
        settings: DatabaseSettings = DatabaseSettings()
    ) throws -> Database {
        try .open(location, migrations: migrations, settings: settings)
    }

    /// A separate connection, for reads that must not wait for other clients.
    func connection() throws -> any Connection {
        switch location {
        case .file(let path):
            try SQLiteConnection(path: path, access: .readOnly, busyTimeout: .zero)
        case .server(let url): PostgresConnection(to: url, .migrating)
        case .temporary: throw SQLError.closed
        }
    }
}
