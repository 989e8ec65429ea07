/// The rows a statement has found; the first one is current after the first ``next()``.
///
/// A column's value is `nil` when it is of another type; nothing is converted.
protocol Rows: AnyObject {
    /// The statement's text.
    var sql: String { get }

    /// Goes to the next row; false after the last.
    func next() throws(SQLError) -> Bool

    func index(of column: Column) -> Int?
    func isNull(at index: Int) -> Bool
    func integer(at index: Int) -> Int64?
    func text(at index: Int) -> String?
    func blob(at index: Int) -> [UInt8]?

    /// Lets go of the rows; called once by whoever asked for them.
    func finish()
}

extension Rows {
    /// Whatever a column holds.
    func value(at index: Int) -> SQLValue {
        if let number = integer(at: index) { return .integer(number) }
        if let text = text(at: index) { return .text(text) }
        if let bytes = blob(at: index) { return .blob(bytes) }
        return .null
    }
}
