/// Brings all rows of a file's database to a server, which may be interrupted at any moment.
///
/// The file is only read, in one state. What has come is durable and is not sent again; until
/// ``finish()`` nobody else opens the server's database. Everything here blocks, and one thread at a time
/// may call it.
public final class DatabaseMove {
    /// What is moved, by name.
    public let tables: [MovedTable]
    /// Rows that had come before this began.
    public private(set) var rowsBefore: Int64 = 0
    private let source: SQLiteConnection
    private let target: PostgresConnection
    private var mark: MoveMark

    /// Rows at once hold no more than this, one of them excepted.
    private static let octetsAtOnce = 4 << 20
    private static let sentAtOnce = 512
    /// Rows of one statement: more are hardly cheaper.
    private static let addedAtOnce = 64
    private static let comparedAtOnce = 256

    /// Why rows are not moved.
    public enum Refusal: Error, Equatable {
        /// The server's database holds something else, in this table.
        case notEmpty(String)
        /// A table is not the same on both sides; the file was changed since the beginning, perhaps.
        case differs(String)
        /// The file cannot be read, or not with this history; everything else is of the server.
        case source(SQLError)
    }

    /// Opens both, looks whether there is anything that is not ours, makes the tables, and looks for what has come before.
    ///
    /// - Parameter migrations: The whole history; the file has to have all of it.
    /// - Throws: ``Refusal``, and ``SQLError`` as `Database.open` does.
    public init(from path: String, to url: String, migrations: [Migration]) throws {
        let settings = DatabaseSettings()
        let migrator = Migrator(migrations: migrations, now: settings.now, takesUnfinished: true)
        let (source, tables) = try Self.ofSource {
            let source = try SQLiteConnection(
                path: path, access: .readOnly, busyTimeout: settings.busyTimeout)
            try source.prepareForReading()
            try source.begin(.reading)
            let reading = Transaction(on: source)
            try Migrator(migrations: migrations, now: settings.now).requireWholeHistory(reading)
            return (source, try source.tables(reading))
        }
        self.source = source
        self.tables = tables
        try PostgresConnection.requireURL(url)
        target = PostgresConnection(to: url, .migrating)
        if let stranger = try target.read({ try $0.table(besides: tables.map(\.name)) }) {
            throw Refusal.notEmpty(stranger)
        }
        try migrator.migrate(target)
        let beginning = MoveMark(table: tables.first?.name ?? "", row: 0)
        mark = try target.write { transaction in
            if let mark = try transaction.moveMark() { return mark }
            for table in tables where try transaction.first(table.anything, { _ in true }) == true {
                throw Refusal.notEmpty(table.name)
            }
            try transaction.begin(beginning, at: settings.now())
            return beginning
        }
        for table in tables where table.name <= mark.table {
            rowsBefore +=
                table.name < mark.table ? table.rows : try rows(of: table, through: mark.row)
        }
    }

    deinit {
        source.close()
        target.close()
    }

    /// Rows of all tables.
    public var rows: Int64 { tables.reduce(0) { sum, table in sum + table.rows } }

    /// Sends the rows that have not come yet.
    ///
    /// - Parameter sent: Told how many more are durable; what it throws ends this.
    public func send(_ sent: (Int) throws -> Void) throws {
        for table in tables where table.name >= mark.table {
            if table.name > mark.table { try advance(to: MoveMark(table: table.name, row: 0)) }
            while true {
                let stretch = try stretch(of: table, after: mark.row, limit: Self.sentAtOnce)
                guard let last = stretch.last else { break }
                let next = MoveMark(table: table.name, row: last.number)
                try target.write { [mark] transaction in
                    var rest = stretch.map(\.values)[...]
                    while !rest.isEmpty {
                        let some = rest.prefix(Self.addedAtOnce)
                        try transaction.execute(table.insertion(of: some))
                        rest.removeFirst(some.count)
                    }
                    try transaction.advance(mark, to: next)
                }
                mark = next
                try sent(stretch.count)
            }
        }
    }

    /// Compares every row of a table with its like.
    ///
    /// - Parameter compared: Told how many more are the same.
    /// - Throws: ``Refusal/differs(_:)``.
    public func verify(_ table: MovedTable, _ compared: (Int) throws -> Void) throws {
        let count = try target.write { transaction in
            try transaction.execute(table.analysis)
            return try transaction.first(table.count) { row in try row.int64(0) }
        }
        guard count == table.rows else { throw Refusal.differs(table.name) }
        var last: Int64 = 0
        while true {
            let stretch = try stretch(of: table, after: last, limit: Self.comparedAtOnce)
            guard let end = stretch.last else { return }
            let likes = table.likes(of: stretch.map(\.values))
            // What tells rows apart finds each of them once.
            let mine =
                table.key.isEmpty
                ? try Self.ofSource { try Self.rows(table, likes, Transaction(on: source)) }
                : Set(stretch.map { row in row.values.map(ExactValue.init) })
            let others = try target.read { try Self.rows(table, likes, $0) }
            guard mine == others else { throw Refusal.differs(table.name) }
            try compared(stretch.count)
            last = end.number
        }
    }

    /// Lets others open the server's database.
    public func finish() throws {
        try target.write { transaction in try transaction.removeMoveMark() }
    }

    private func advance(to next: MoveMark) throws {
        try target.write { [mark] transaction in try transaction.advance(mark, to: next) }
        mark = next
    }

    private func stretch(
        of table: MovedTable, after row: Int64, limit: Int
    ) throws -> [(number: Int64, values: [SQLValue])] {
        var octets = 0
        return try Self.ofSource {
            try Transaction(on: source).prefix(table.stretch(after: row, limit: limit)) { row in
                guard octets < Self.octetsAtOnce else { return nil }
                let values = try (1...table.columns.count).map { index in
                    try row.value(.index(index))
                }
                octets += values.reduce(0) { sum, value in sum + value.octets }
                return (try row.int64(0), values)
            }
        }
    }

    private func rows(of table: MovedTable, through row: Int64) throws -> Int64 {
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
            throw Refusal.source(error)
        }
    }

    private static func rows(
        _ table: MovedTable, _ likes: SQL, _ transaction: Transaction
    ) throws -> Set<[ExactValue]> {
        Set(
            try transaction.rows(likes) { row in
                try (0..<table.width).map { index in ExactValue(try row.value(.index(index))) }
            })
    }
}

/// A value to compare octet by octet: to Swift two texts are equal that look alike.
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
    /// What it weighs, about.
    fileprivate var octets: Int {
        switch self {
        case .null, .integer: 8
        case .text(let text): text.utf8.count
        case .blob(let octets): octets.count
        }
    }
}
