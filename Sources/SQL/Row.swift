/// One row of a result, seen only by the closure that makes a value of it.
///
/// A column is named as in the statement, or counted from zero. Each accessor takes exactly its type:
/// nothing is converted, and `NULL` is only for the optional ones.
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

    /// Whatever the column holds.
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
