import CSQLite

/// A prepared statement, used by one caller at a time.
///
/// C boundary: this object owns the pointer from preparing to `deinit`; memory of SQLite is copied within the
/// call that returns it.
@safe final class SQLiteStatement: Rows {
    let template: StatementTemplate
    let sql: String
    var lastUse: UInt64 = 0
    /// Whether it is in use.
    var isLent = true
    /// Whether it is in its connection's cache.
    var isKept = false
    private let pointer: OpaquePointer
    private unowned let lender: SQLiteConnection
    private let columnCount: Int
    private lazy var columns: [String] = (0..<columnCount).map(columnName(at:))

    init(
        _ template: StatementTemplate, on database: OpaquePointer, of lender: SQLiteConnection
    ) throws(SQLError) {
        var sql = template.text
        var pointer: OpaquePointer?
        var length = 0
        let (code, used) = sql.withUTF8 { text in
            unsafe text.withMemoryRebound(to: CChar.self) { text in
                var tail: UnsafePointer<CChar>?
                length = text.count
                let code = unsafe sqlite3_prepare_v3(
                    database, text.baseAddress, Int32(clamping: text.count),
                    UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, &tail)
                let used = unsafe tail.flatMap { tail in
                    unsafe text.baseAddress.map { base in unsafe tail - base }
                }
                return (code, used ?? 0)
            }
        }
        guard code == SQLITE_OK else {
            throw SQLError(database: database, code: code, statement: sql)
        }
        guard let pointer = unsafe pointer, used == length else {
            unsafe sqlite3_finalize(pointer)
            throw SQLError(.misuse, "not exactly one statement", statement: sql)
        }
        self.template = template
        self.sql = sql
        self.lender = lender
        unsafe self.pointer = pointer
        columnCount = unsafe Int(sqlite3_column_count(pointer))
    }

    deinit { unsafe sqlite3_finalize(pointer) }

    /// Binds `$1`, `$2` …
    func bind(_ values: [SQLValue]) throws(SQLError) {
        guard unsafe values.count == Int(sqlite3_bind_parameter_count(pointer)) else {
            throw SQLError(.misuse, "\(values.count) values do not fit", statement: sql)
        }
        for (index, value) in values.enumerated() {
            try check(bind(value, at: Int32(index + 1)))
        }
    }

    /// Advances to the next row; false after the last.
    func next() throws(SQLError) -> Bool {
        let code = unsafe sqlite3_step(pointer)
        guard code != SQLITE_ROW else { return true }
        guard code != SQLITE_DONE else { return false }
        try check(code)
        return false
    }

    /// Releases the rows and the values. It reports only errors that `next` has already thrown.
    func reset() {
        unsafe sqlite3_reset(pointer)
        unsafe sqlite3_clear_bindings(pointer)
    }

    /// Gives the statement back to its connection, which may reuse it.
    func finish() { lender.takeBack(self) }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT, a cast that is not imported: SQLite copies before the call returns.
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null:
            return unsafe sqlite3_bind_null(pointer, index)
        case .integer(let number):
            return unsafe sqlite3_bind_int64(pointer, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                    unsafe sqlite3_bind_text64(
                        pointer, index, bytes.baseAddress, UInt64(bytes.count), copied,
                        UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let bytes):
            // Without bytes there may be no address, and a blob at no address is bound as NULL.
            guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(pointer, index, 0) }
            return unsafe bytes.withUnsafeBytes { bytes in
                unsafe sqlite3_bind_blob64(
                    pointer, index, bytes.baseAddress, UInt64(bytes.count), copied)
            }
        // The connection has spread it over several parameters.
        case .array: return SQLITE_MISMATCH
        }
    }

    private func check(_ code: Int32) throws(SQLError) {
        guard code != SQLITE_OK else { return }
        throw unsafe SQLError(database: sqlite3_db_handle(pointer), code: code, statement: sql)
    }
}

// MARK: - Columns of the current row
// A value is `nil` when the column has another type; nothing is converted.
extension SQLiteStatement {
    func index(of column: Column) -> Int? {
        switch column {
        case .name(let name): columns.firstIndex(of: name)
        case .index(let index): index >= 0 && index < columnCount ? index : nil
        }
    }

    func isNull(at index: Int) -> Bool { type(at: index) == SQLITE_NULL }

    func integer(at index: Int) -> Int64? {
        guard type(at: index) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(pointer, Int32(index))
    }

    func text(at index: Int) -> String? {
        guard type(at: index) == SQLITE_TEXT else { return nil }
        let start = unsafe sqlite3_column_text(pointer, Int32(index))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: start, count: byteCount(at: index)),
            as: UTF8.self)
    }

    func blob(at index: Int) -> [UInt8]? {
        guard type(at: index) == SQLITE_BLOB else { return nil }
        // An empty blob has no address.
        let start = unsafe sqlite3_column_blob(pointer, Int32(index))
        let count = unsafe start == nil ? 0 : byteCount(at: index)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    func sixteenBytes(at index: Int) -> (high: UInt64, low: UInt64)? {
        guard type(at: index) == SQLITE_BLOB else { return nil }
        let start = unsafe sqlite3_column_blob(pointer, Int32(index))
        let count = unsafe start == nil ? 0 : byteCount(at: index)
        return unsafe UnsafeRawBufferPointer(start: start, count: count).twoNumbers
    }

    private func type(at index: Int) -> Int32 {
        unsafe sqlite3_column_type(pointer, Int32(index))
    }

    private func byteCount(at index: Int) -> Int {
        unsafe Int(sqlite3_column_bytes(pointer, Int32(index)))
    }

    private func columnName(at index: Int) -> String {
        guard let name = unsafe sqlite3_column_name(pointer, Int32(index)) else { return "" }
        return unsafe String(cString: name)
    }
}
