import CSQLite
import Glibc

// A file of the C boundary: the handle is only looked at during the call.
extension SQLError {
    /// Reads what SQLite has to say about its last call.
    @safe init(database: OpaquePointer?, code: Int32, statement: String?) {
        let text = unsafe database.flatMap { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        let message = unsafe text.map { unsafe String(cString: $0) } ?? "no message"
        let systemError = unsafe database.map { unsafe sqlite3_system_errno($0) } ?? 0
        self.init(
            Kind(code: code, systemError: systemError), code: code, message, statement: statement)
    }
}

extension SQLError.Kind {
    /// SQLite's result codes (https://sqlite.org/rescode.html); the low byte is the primary one.
    init(code: Int32, systemError: Int32) {
        switch code & 0xFF {
        case SQLITE_FULL: self = .diskFull
        case SQLITE_IOERR where [ENOSPC, EDQUOT].contains(systemError): self = .diskFull
        case SQLITE_IOERR: self = .inputOutput
        case SQLITE_CORRUPT: self = .corrupt
        case SQLITE_NOTADB: self = .notADatabase
        case SQLITE_CANTOPEN: self = .cannotOpen
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: self = .locked
        case SQLITE_CONSTRAINT: self = Self.uniqueness.contains(code) ? .notUnique : .constraint
        case SQLITE_ERROR, SQLITE_MISUSE, SQLITE_RANGE: self = .misuse
        default: self = .other
        }
    }

    /// SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY and _ROWID, macros the importer leaves out.
    private static let uniqueness: [Int32] = [8, 6, 10].map { SQLITE_CONSTRAINT | $0 << 8 }
}
