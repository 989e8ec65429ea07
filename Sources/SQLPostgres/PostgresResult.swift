import CPostgres
import SQL

/// The result of one statement.
///
/// C boundary: this object owns the result until `deinit`; memory of libpq is copied within the call that
/// returns it.
@safe final class PostgresResult {
    private let pointer: OpaquePointer

    /// Takes ownership of a result; `nil` for none.
    init?(_ pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe PQclear(pointer) }

    var isSuccess: Bool { [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(status) }
    var isEmpty: Bool { status == PGRES_EMPTY_QUERY }
    /// Whether the statement was not run because an earlier one failed.
    var isSkipped: Bool { status == PGRES_PIPELINE_ABORTED }
    var isSync: Bool { status == PGRES_PIPELINE_SYNC }

    /// The command tag, such as `COMMIT`.
    var command: String { unsafe String(cString: PQcmdStatus(pointer)) }

    /// Rows inserted, updated or deleted; 0 for `SELECT`.
    var changeCount: Int {
        guard !command.hasPrefix("SELECT") else { return 0 }
        return unsafe Int(String(cString: PQcmdTuples(pointer))) ?? 0
    }

    var rowCount: Int { unsafe Int(PQntuples(pointer)) }

    var columnNames: [String] {
        unsafe (0..<PQnfields(pointer)).map { index in
            unsafe PQfname(pointer, index).map { unsafe String(cString: $0) } ?? ""
        }
    }

    func type(of column: Int) -> Oid { unsafe PQftype(pointer, Int32(column)) }

    /// Calls a closure with the bytes of a value; `nil` for `NULL`.
    func withValue<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Value
    ) -> Value? {
        guard unsafe PQgetisnull(pointer, Int32(row), Int32(column)) == 0 else { return nil }
        let start = unsafe PQgetvalue(pointer, Int32(row), Int32(column))
        let count = unsafe Int(PQgetlength(pointer, Int32(row), Int32(column)))
        return unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A field of an error.
    func field(_ code: Character) -> String? {
        let code = Int32(code.asciiValue ?? 0)
        return unsafe PQresultErrorField(pointer, code).map { unsafe String(cString: $0) }
    }

    /// The whole message, for errors of libpq itself, which have no fields.
    var message: String { unsafe String(cString: PQresultErrorMessage(pointer)) }

    private var status: ExecStatusType { unsafe PQresultStatus(pointer) }
}

/// The rows of a result, all of which have arrived.
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

    /// The rows are released with this object.
    func finish() {}

    func index(of column: Column) -> Int? {
        switch column {
        case .name(let name): columns.firstIndex(of: name)
        case .index(let index): columns.indices.contains(index) ? index : nil
        }
    }

    func isNull(at index: Int) -> Bool { unsafe result.withValue(row, index) { _ in true } == nil }

    /// Also reads booleans, as 0 and 1 like SQLite, and small integer types.
    func integer(at index: Int) -> Int64? {
        switch result.type(of: index) {
        case PostgresType.int8, PostgresType.int4, PostgresType.int2, PostgresType.bool:
            unsafe result.withValue(row, index) { bytes in
                let isNegative = unsafe bytes.first.map { $0 & 0x80 != 0 } == true
                return unsafe bytes.reduce(isNegative ? -1 : 0) { number, byte in
                    number << 8 | Int64(byte)
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

    func sixteenBytes(at index: Int) -> (high: UInt64, low: UInt64)? {
        guard result.type(of: index) == PostgresType.bytea else { return nil }
        return unsafe result.withValue(row, index) { bytes in unsafe bytes.twoNumbers } ?? nil
    }
}

extension SQLError {
    /// The error of a statement, without its details, which may show values.
    init(_ result: PostgresResult, statement: String) {
        guard !result.isEmpty else {
            self.init(.misuse, "not exactly one statement", statement: statement)
            return
        }
        // Errors without a state come from libpq: the connection is lost.
        let state = result.field("C") ?? "08000"
        let message = result.field("M") ?? result.message
        self.init(
            Kind(state: state),
            "\(state) \(message.split(separator: "\n").joined(separator: "; "))",
            statement: statement)
    }
}

extension SQLError.Kind {
    /// Maps a state of PostgreSQL (https://www.postgresql.org/docs/15/errcodes-appendix.html); its first two
    /// characters are the class.
    init(state: String) {
        switch state {
        // protocol_violation: the parameters do not match the statement.
        case "08P01": self = .misuse
        case "23505": self = .notUnique
        // serialization_failure, deadlock_detected; a cached plan whose tables have changed.
        case "40001", "40P01", "0A000": self = .collided
        case "25006": self = .readOnly
        // in_failed_sql_transaction, no_active_sql_transaction
        case "25P02", "25P01": self = .transactionLost
        case "53100": self = .diskFull
        case "55P03": self = .locked
        case "57014": self = .timedOut
        case "58030": self = .inputOutput
        case "XX001", "XX002": self = .corrupt
        // too_many_connections; the server stops, has crashed, or is starting.
        case "53300", "57P01", "57P02", "57P03", "57P05", "25P03": self = .unreachable
        default: self = Self.classes[String(state.prefix(2))] ?? .other
        }
    }

    private static let classes: [String: SQLError.Kind] = [
        "08": .unreachable, "22": .misuse, "23": .constraint, "26": .collided, "42": .misuse,
    ]
}
