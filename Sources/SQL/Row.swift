/// A row of a result, valid only inside the closure that makes a value of it.
///
/// A column is given by its name in the result, or by its index from zero. Each accessor requires exactly its
/// type: nothing is converted, and only the optional accessors accept `NULL`.
public struct Row: ~Copyable {
    let rows: any Rows

    /// A `BIGINT`.
    public func int64(_ column: Column) throws(SQLError) -> Int64 {
        guard let value = try optionalInt64(column) else { throw mismatch(column, "BIGINT") }
        return value
    }

    /// A `BIGINT` as `Int`.
    public func int(_ column: Column) throws(SQLError) -> Int { Int(try int64(column)) }

    /// A `BIGINT` that is 0 or 1.
    public func bool(_ column: Column) throws(SQLError) -> Bool {
        switch try int64(column) {
        case 0: false
        case 1: true
        default: throw mismatch(column, "0 or 1")
        }
    }

    /// A `TEXT`.
    public func text(_ column: Column) throws(SQLError) -> String {
        guard let value = try optionalText(column) else { throw mismatch(column, "TEXT") }
        return value
    }

    /// A `BYTEA`.
    public func blob(_ column: Column) throws(SQLError) -> [UInt8] {
        guard let value = try optionalBlob(column) else { throw mismatch(column, "BYTEA") }
        return value
    }

    /// The value of the column, of any type.
    public func value(_ column: Column) throws(SQLError) -> SQLValue {
        rows.value(at: try index(of: column))
    }

    /// Whether the column is `NULL`.
    public func isNull(_ column: Column) throws(SQLError) -> Bool {
        rows.isNull(at: try index(of: column))
    }

    /// A `BIGINT`; `nil` for `NULL`.
    public func optionalInt64(_ column: Column) throws(SQLError) -> Int64? {
        let index = try index(of: column)
        if let number = rows.integer(at: index) { return number }
        guard rows.isNull(at: index) else { throw mismatch(column, "BIGINT") }
        return nil
    }

    /// A `TEXT`; `nil` for `NULL`.
    public func optionalText(_ column: Column) throws(SQLError) -> String? {
        let index = try index(of: column)
        if let text = rows.text(at: index) { return text }
        guard rows.isNull(at: index) else { throw mismatch(column, "TEXT") }
        return nil
    }

    /// A `BYTEA`; `nil` for `NULL`.
    public func optionalBlob(_ column: Column) throws(SQLError) -> [UInt8]? {
        let index = try index(of: column)
        if let bytes = rows.blob(at: index) { return bytes }
        guard rows.isNull(at: index) else { throw mismatch(column, "BYTEA") }
        return nil
    }

    /// A `BYTEA` of sixteen bytes, as two numbers in network byte order, without an array for them; `nil` for every
    /// other value.
    public func sixteenBytes(_ column: Column) throws(SQLError) -> (high: UInt64, low: UInt64)? {
        rows.sixteenBytes(at: try index(of: column))
    }

    private func index(of column: Column) throws(SQLError) -> Int {
        guard let index = rows.index(of: column) else {
            throw SQLError(.typeMismatch, "no column \(column)", statement: rows.sql)
        }
        return index
    }

    private func mismatch(_ column: Column, _ type: String) -> SQLError {
        SQLError(.typeMismatch, "column \(column) is not \(type)", statement: rows.sql)
    }
}

/// The rows of a result; the first row is current after the first ``next()``.
///
/// A value is `nil` when the column has another type; nothing is converted.
package protocol Rows: AnyObject {
    /// The statement's text.
    var sql: String { get }

    /// Advances to the next row; false after the last.
    func next() throws(SQLError) -> Bool

    func index(of column: Column) -> Int?
    func isNull(at index: Int) -> Bool
    func integer(at index: Int) -> Int64?
    func text(at index: Int) -> String?
    func blob(at index: Int) -> [UInt8]?
    func sixteenBytes(at index: Int) -> (high: UInt64, low: UInt64)?

    /// Releases the rows; called once by the caller of the query.
    func finish()
}

extension Rows {
    /// The value of a column, of any type.
    func value(at index: Int) -> SQLValue {
        if let number = integer(at: index) { return .integer(number) }
        if let text = text(at: index) { return .text(text) }
        if let bytes = blob(at: index) { return .blob(bytes) }
        return .null
    }
}

extension UnsafeRawBufferPointer {
    /// Sixteen bytes as two numbers in network byte order; `nil` for any other number of bytes.
    package var twoNumbers: (high: UInt64, low: UInt64)? {
        guard count == 16 else { return nil }
        return unsafe (
            UInt64(bigEndian: loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
}

/// The name or the index of a column: `row.text("name")`, `row.text(0)`.
public enum Column: Hashable, Sendable {
    /// The name in the result.
    case name(String)
    /// The index, from zero.
    case index(Int)
}

extension Column: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Names a column.
    public init(stringLiteral name: String) { self = .name(name) }

    /// Counts a column, from zero.
    public init(integerLiteral index: Int) { self = .index(index) }
}

extension Column: CustomStringConvertible {
    /// The name, or the number.
    public var description: String {
        switch self {
        case .name(let name): name
        case .index(let index): String(index)
        }
    }
}
