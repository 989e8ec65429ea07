import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

/// Each kind of database there is: what holds for one holds for the other.
enum Engine: CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres

    var testDescription: String {
        switch self {
        case .sqlite: "SQLite"
        case .postgres: "PostgreSQL"
        }
    }

    /// A place without a database, or with an empty one.
    func place() -> DatabaseLocation {
        switch self {
        case .sqlite: .temporary
        case .postgres: .server(PostgresServer.shared.newSchema())
        }
    }

    /// A place that may be opened more than once.
    func lasting() -> Place {
        switch self {
        case .sqlite: Place(file: TemporaryFile())
        case .postgres: Place(location: place())
        }
    }

    /// Ends a transaction in its midst, as the engine itself may do after a fault.
    func endTransaction(_ transaction: Transaction) throws {
        switch self {
        case .sqlite: try transaction.execute("ROLLBACK")
        // Swallowed, as a careless change would do it.
        case .postgres: _ = try? transaction.rows("SELECT 1 / 0") { _ in 0 }
        }
    }

    /// A database of people.
    func people(_ settings: DatabaseSettings = .patient) throws -> Database {
        try .open(place(), migrations: People.migrations, settings: settings)
    }
}

extension DatabaseSettings {
    /// A change that is held waits for others, which may take long where all tests run at once.
    static var patient: DatabaseSettings {
        var settings = DatabaseSettings()
        settings.idleTimeout = .seconds(900)
        return settings
    }
}

/// A database that is closed and opened again.
struct Place {
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
