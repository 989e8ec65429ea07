/// The rows of one result, all of which have arrived.
final class PostgresRows: Rows {
    private let result: PostgresResult
    private let columns: [String]
    private let count: Int
    private var row = -1
    let sql: String

    init(_ result: PostgresResult, of statement: PreparedStatement) {
        let columns = statement.columns ?? result.columnNames
        statement.columns = columns
        self.columns = columns
        self.result = result
        count = result.rowCount
        sql = statement.text
    }

    func next() -> Bool {
        row += 1
        return row < count
    }

    /// They are let go of with this object.
    func finish() {}

    func index(of column: Column) -> Int? {
        switch column {
        case .name(let name): columns.firstIndex(of: name)
        case .index(let index): columns.indices.contains(index) ? index : nil
        }
    }

    func isNull(at index: Int) -> Bool { unsafe result.withValue(row, index) { _ in true } == nil }

    /// Also the truth of a comparison, which SQLite counts as 0 and 1, and small literals.
    func integer(at index: Int) -> Int64? {
        switch result.type(of: index) {
        case PostgresType.int8, PostgresType.int4, PostgresType.int2, PostgresType.bool:
            unsafe result.withValue(row, index) { bytes in
                let isNegative = unsafe bytes.first.map { $0 & 0x80 != 0 } == true
                return unsafe bytes.reduce(isNegative ? -1 : 0) { number, octet in
                    number << 8 | Int64(octet)
                }
            }
        default: nil
        }
    }

    func text(at index: Int) -> String? {
        switch result.type(of: index) {
        case PostgresType.text, PostgresType.name:
            unsafe result.withValue(row, index) { bytes in unsafe PostgresText.text(bytes) }
        default: nil
        }
    }

    func blob(at index: Int) -> [UInt8]? {
        guard result.type(of: index) == PostgresType.bytea else { return nil }
        return unsafe result.withValue(row, index) { bytes in unsafe [UInt8](bytes) }
    }
}
