public import SQL

/// Copies all rows of an SQLite file to a PostgreSQL database; it may be interrupted at any moment and
/// resumed.
///
/// The file is only read, in one snapshot. Rows that have arrived are durable and are not sent again. Until
/// ``finish()`` the server's database is rejected by every program. All methods block, and are called by one
/// thread at a time.
public final class DatabaseMigration {
    /// The tables to copy, by name.
    public let tables: [MigratedTable]
    /// Rows that an earlier, interrupted run had copied.
    public private(set) var rowsBefore: Int64 = 0
    private let source: any Connection
    private let target: PostgresConnection
    private var checkpoint: MigrationCheckpoint

    /// The most bytes of rows read at once; a single row may be larger.
    private static let bytesAtOnce = 4 << 20
    private static let sentAtOnce = 512
    /// Rows of one `INSERT`; more are hardly faster.
    private static let addedAtOnce = 64
    private static let comparedAtOnce = 256

    /// Why a migration failed.
    public enum Failure: Error, Equatable {
        /// The server's database already has rows or an unknown table; the value names the table.
        case notEmpty(String)
        /// A table differs between the two databases, for example because the file has changed since the
        /// start.
        case differs(String)
        /// The file cannot be read or has other schema migrations; all other errors are the server's.
        case source(SQLError)
    }

    /// Opens both databases, creates the tables on the server, and finds where an earlier run stopped.
    ///
    /// - Parameter migrations: All schema migrations; the file must have all of them.
    /// - Throws: ``Failure``, and ``SQLError`` as `Database.open` does.
    public init(from path: String, to url: String, migrations: [SchemaMigration]) throws {
        let settings = DatabaseSettings()
        let migrator = SchemaMigrator(
            migrations: migrations, now: settings.now, acceptsUnfinished: true)
        let (source, tables) = try Self.ofSource {
            let source = try Database.connection(readingFrom: path, settings)
            try source.begin(.reading)
            let reading = Transaction(on: source)
            try SchemaMigrator(migrations: migrations, now: settings.now).requireWholeHistory(
                reading)
            return (source, try reading.fileTables())
        }
        self.source = source
        self.tables = tables
        try PostgresConnection.requireURL(url)
        target = PostgresConnection(to: url, .migrating)
        if let unknown = try target.read({ try $0.table(besides: tables.map(\.name)) }) {
            throw Failure.notEmpty(unknown)
        }
        try migrator.migrate(target)
        let beginning = MigrationCheckpoint(table: tables.first?.name ?? "", row: 0)
        checkpoint = try target.write { transaction in
            if let checkpoint = try transaction.migrationCheckpoint() { return checkpoint }
            for table in tables where try transaction.first(table.anyRow, { _ in true }) == true {
                throw Failure.notEmpty(table.name)
            }
            try transaction.begin(beginning, at: settings.now())
            return beginning
        }
        for table in tables where table.name <= checkpoint.table {
            rowsBefore +=
                table.name < checkpoint.table
                ? table.rows : try rows(of: table, through: checkpoint.row)
        }
    }

    deinit {
        source.close()
        target.close()
    }

    /// The rows of all tables.
    public var rows: Int64 { tables.reduce(0) { sum, table in sum + table.rows } }

    /// Sends the rows that have not arrived yet.
    ///
    /// - Parameter sent: Called with the number of rows that became durable; an error it throws ends the
    /// migration.
    public func send(_ sent: (Int) throws -> Void) throws {
        for table in tables where table.name >= checkpoint.table {
            if table.name > checkpoint.table {
                try advance(to: MigrationCheckpoint(table: table.name, row: 0))
            }
            while true {
                let batch = try batch(of: table, after: checkpoint.row, limit: Self.sentAtOnce)
                guard let last = batch.last else { break }
                let next = MigrationCheckpoint(table: table.name, row: last.number)
                try target.write { [checkpoint] transaction in
                    var rest = batch.map(\.values)[...]
                    while !rest.isEmpty {
                        let some = rest.prefix(Self.addedAtOnce)
                        try transaction.execute(table.insertion(of: some))
                        rest.removeFirst(some.count)
                    }
                    try transaction.advance(checkpoint, to: next)
                }
                checkpoint = next
                try sent(batch.count)
            }
        }
    }

    /// Compares every row of a table with its copy.
    ///
    /// - Parameter compared: Called with the number of rows found equal.
    /// - Throws: ``Failure/differs(_:)``.
    public func verify(_ table: MigratedTable, _ compared: (Int) throws -> Void) throws {
        let count = try target.write { transaction in
            try transaction.execute(table.analysis)
            return try transaction.first(table.count) { row in try row.int64(0) }
        }
        guard count == table.rows else { throw Failure.differs(table.name) }
        var last: Int64 = 0
        while true {
            let batch = try batch(of: table, after: last, limit: Self.comparedAtOnce)
            guard let end = batch.last else { return }
            let copies = table.copies(of: batch.map(\.values))
            // With a key, each row matches exactly once.
            let expected =
                table.key.isEmpty
                ? try Self.ofSource { try Self.rows(table, copies, Transaction(on: source)) }
                : Set(batch.map { row in row.values.map(ExactValue.init) })
            let found = try target.read { try Self.rows(table, copies, $0) }
            guard expected == found else { throw Failure.differs(table.name) }
            try compared(batch.count)
            last = end.number
        }
    }

    /// Removes the checkpoint, so that programs accept the server's database.
    public func finish() throws {
        try target.write { transaction in try transaction.removeMigrationCheckpoint() }
    }

    private func advance(to next: MigrationCheckpoint) throws {
        try target.write { [checkpoint] transaction in try transaction.advance(checkpoint, to: next)
        }
        checkpoint = next
    }

    private func batch(
        of table: MigratedTable, after row: Int64, limit: Int
    ) throws -> [(number: Int64, values: [SQLValue])] {
        var bytes = 0
        return try Self.ofSource {
            try Transaction(on: source).prefix(table.batch(after: row, limit: limit)) { row in
                guard bytes < Self.bytesAtOnce else { return nil }
                let values = try (1...table.columns.count).map { index in
                    try row.value(.index(index))
                }
                bytes += values.reduce(0) { sum, value in sum + value.bytes }
                return (try row.int64(0), values)
            }
        }
    }

    private func rows(of table: MigratedTable, through row: Int64) throws -> Int64 {
        try Self.ofSource {
            try Transaction(on: source).first(table.count(through: row)) { row in
                try row.int64(0)
            } ?? 0
        }
    }

    private static func ofSource<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as SQLError {
            throw Failure.source(error)
        }
    }

    private static func rows(
        _ table: MigratedTable, _ copies: SQL, _ transaction: Transaction
    ) throws -> Set<[ExactValue]> {
        Set(
            try transaction.rows(copies) { row in
                try (0..<table.width).map { index in ExactValue(try row.value(.index(index))) }
            })
    }
}

/// A value compared bytewise; Swift compares text by canonical equivalence.
private struct ExactValue: Hashable {
    private let value: SQLValue
    private let isText: Bool

    init(_ value: SQLValue) {
        guard case .text(let text) = value else {
            self.value = value
            isText = false
            return
        }
        self.value = .blob(Array(text.utf8))
        isText = true
    }
}

extension SQLValue {
    /// The approximate size in bytes.
    fileprivate var bytes: Int {
        switch self {
        case .null, .integer: 8
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        case .array(let array):
            (0..<array.count).reduce(0) { size, index in size + array[index].bytes }
        }
    }
}

/// The progress of a migration. It is stored among the schema migrations, so that every program rejects the
/// database until it is complete.
///
/// It is updated in the transaction that inserts rows, so it is true after a crash.
struct MigrationCheckpoint: Equatable {
    /// The table being copied, and the last row of the file that has arrived. Tables that sort before it are
    /// complete.
    fileprivate var table: String
    fileprivate var row: Int64

    var text: String { "\(table) \(row)" }

    init(table: String, row: Int64) {
        self.table = table
        self.row = row
    }

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let row = Int64(words[1]) else { return nil }
        self.init(table: String(words[0]), row: row)
    }
}

extension Transaction {
    /// The checkpoint of a database that is not complete; `nil` for a complete one.
    func migrationCheckpoint() throws -> MigrationCheckpoint? {
        try first(
            "SELECT name FROM schema_migrations WHERE number = \(SchemaMigrator.checkpointNumber)"
        ) { row in
            guard let checkpoint = MigrationCheckpoint(try row.text(0)) else {
                throw SQLError(.schema, "migration 0 is '\(try row.text(0))' and no checkpoint")
            }
            return checkpoint
        }
    }

    func begin(_ checkpoint: MigrationCheckpoint, at moment: Int64) throws {
        try execute(
            """
            INSERT INTO schema_migrations (number, name, applied_at)
            VALUES (\(SchemaMigrator.checkpointNumber), \(checkpoint.text), \(moment))
            """)
    }

    /// Advances the checkpoint, unless another process has.
    func advance(_ checkpoint: MigrationCheckpoint, to next: MigrationCheckpoint) throws {
        let count = try rowsChanged(
            by: """
                UPDATE schema_migrations SET name = \(next.text)
                WHERE number = \(SchemaMigrator.checkpointNumber) AND name = \(checkpoint.text)
                """)
        guard count == 1 else {
            throw SQLError(.collided, "another process migrates into the database")
        }
    }

    func removeMigrationCheckpoint() throws {
        try execute(
            "DELETE FROM schema_migrations WHERE number = \(SchemaMigrator.checkpointNumber)")
    }
}
