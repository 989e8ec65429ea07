/// The cache key of a value read from one row, or from rows with the same key in several tables.
///
/// ```swift
/// let person = RowCacheKey<Person>(of: id.bytes, in: "people")
/// ```
public struct RowCacheKey<Value>: Sendable {
    let rows: [RowKey]
    let aspect: [UInt8]

    /// - Parameters:
    ///   - key: Identifies the row, equally in all tables.
    ///   - tables: Every table that the value depends on, as statements spell them.
    ///   - aspect: Distinguishes several cached values of one row.
    public init(of key: [UInt8], in tables: String..., aspect: [UInt8] = []) {
        rows = tables.map { table in RowKey(key, in: table) }
        self.aspect = aspect
    }

    /// - Parameter rows: Every row that the value depends on; the first names it.
    public init(of rows: [RowKey], aspect: [UInt8] = []) {
        self.rows = rows
        self.aspect = aspect
    }

    var name: RowCacheName { RowCacheName(row: rows[0], aspect: aspect) }
}

/// Identifies a row of a table, or the rows that share a key, such as those of one conversation.
public struct RowKey: Hashable, Sendable {
    let table: String
    let key: [UInt8]

    /// - Parameter table: The name of the table, as statements spell it.
    public init(_ key: [UInt8], in table: String) {
        self.table = table
        self.key = key
    }

    /// Hashes the bytes as one number, because arrays hash each byte by itself, and of the table only the length.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key.folded &+ UInt64(table.utf8.count))
    }
}

extension [UInt8] {
    /// A number for hashing. Its factor is random, so that clients cannot choose keys with equal numbers.
    fileprivate var folded: UInt64 {
        reduce(0) { sum, byte in sum &* foldingFactor &+ UInt64(byte) }
    }
}

private let foldingFactor = UInt64.random(in: .min ... .max) | 1

/// The hashable part of a ``RowCacheKey``.
struct RowCacheName: Hashable {
    let row: RowKey
    fileprivate let aspect: [UInt8]

    func hash(into hasher: inout Hasher) {
        row.hash(into: &hasher)
        hasher.combine(aspect.folded)
    }
}

/// Names what the changes of a commit do together: a query that is sent ahead for all of them
/// (``Transaction/prefetch(_:by:_:)``), or writes of different rows that a few statements make
/// (``Transaction/deferWrite(_:of:in:writing:)``).
public struct CommitGroup: Hashable, Sendable {
    private let name: String
    private let scope: [UInt8]

    /// - Parameter scope: Distinguishes groups of the same name, such as those of several applications.
    public init(_ name: String, in scope: [UInt8]) {
        self.name = name
        self.scope = scope
    }
}

/// The rows of a query that may still be running (``Transaction/query(_:as:reading:_:)``).
///
/// They show the state at the time of the query, whatever was written since.
public final class DeferredRows<Value> {
    private let connection: (any Connection)?
    private var outcome: Result<[Value], any Error>?

    init(on connection: any Connection) { self.connection = connection }

    /// A result that is already there.
    public init(_ values: [Value]) {
        connection = nil
        outcome = .success(values)
    }

    /// The value of each row; waits for the query while it is still running.
    ///
    /// - Throws: What making a value threw, or the error of an earlier statement.
    public func rows() throws -> [Value] {
        if outcome == nil { try connection?.flush() }
        guard let outcome else { throw SQLError.transactionLost }
        return try outcome.get()
    }

    /// The value of the first row; `nil` when there is none.
    public func first() throws -> Value? { try rows().first }

    /// Makes the values of rows that have arrived.
    func take(_ rows: any Rows, _ make: (borrowing Row) throws -> Value) {
        outcome = Result {
            var values: [Value] = []
            while try rows.next() { values.append(try make(Row(rows: rows))) }
            return values
        }
    }
}
