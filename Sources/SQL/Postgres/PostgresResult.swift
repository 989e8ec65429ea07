import CPostgres

/// What the server has answered to one statement.
///
/// A file of the C boundary. The result is this object's own until `deinit`, and what libpq lends of it
/// is copied during the call.
@safe final class PostgresResult {
    private let pointer: OpaquePointer

    /// Takes a result over; `nil` for none.
    init?(_ pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe PQclear(pointer) }

    var isGood: Bool { [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(status) }
    var isEmpty: Bool { status == PGRES_EMPTY_QUERY }
    /// Whether it stands for a statement not run because an earlier one has failed.
    var isSkipped: Bool { status == PGRES_PIPELINE_ABORTED }
    var isSync: Bool { status == PGRES_PIPELINE_SYNC }

    /// What was done, such as `COMMIT`.
    var command: String { unsafe String(cString: PQcmdStatus(pointer)) }

    /// Rows inserted, changed or deleted; none for a statement that looks.
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

    /// The octets of a value; `nil` for `NULL`.
    func withValue<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Value
    ) -> Value? {
        guard unsafe PQgetisnull(pointer, Int32(row), Int32(column)) == 0 else { return nil }
        let start = unsafe PQgetvalue(pointer, Int32(row), Int32(column))
        let count = unsafe Int(PQgetlength(pointer, Int32(row), Int32(column)))
        return unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// One of the fields of an error.
    func field(_ code: Character) -> String? {
        let code = Int32(code.asciiValue ?? 0)
        return unsafe PQresultErrorField(pointer, code).map { unsafe String(cString: $0) }
    }

    /// The whole message of an error that has no fields because it is libpq's own.
    var message: String { unsafe String(cString: PQresultErrorMessage(pointer)) }

    private var status: ExecStatusType { unsafe PQresultStatus(pointer) }
}
