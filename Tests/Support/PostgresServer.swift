internal import CPostgres
internal import Dispatch
internal import FoundationEssentials
internal import Synchronization
internal import SystemSupport

/// The PostgreSQL server for the tests of this process. It starts with the first use and ends with
/// the process (see `postgres.sh`).
public final class PostgresServer: Sendable {
    /// The shared server.
    public static let shared = PostgresServer()

    /// Its URL for libpq; the user needs no password.
    public let url: String
    private let server: HelperProcess
    private let schemas = Atomic<Int>(0)
    private let pool = Locked(SchemaPool())

    private struct SchemaPool {
        /// Schemas with all tables and no rows, for the next borrowers.
        var clean: [String] = []
        /// The digest of the tables of a schema; the first that is given back sets it.
        var tables: String?
    }

    /// Starts a separate server, for a test that stops it; traps if there is no PostgreSQL.
    public init() {
        server = HelperProcess("postgres.sh", by: "bash")
        url = server.line()
        precondition(url.hasPrefix("postgres://"), "PostgreSQL did not start; see its output above")
    }

    /// Commands of a test to its own server.
    public enum Command: String {
        case stop, crash, start
    }

    /// Executes a command and waits for it.
    public func send(_ command: Command) {
        let answer = server.send(command.rawValue)
        precondition(
            answer == command.rawValue, "PostgreSQL did not \(command); see its output above")
    }

    /// The URL of an empty schema of this server.
    public func newSchema() -> String {
        schema(named: "test\(schemas.add(1, ordering: .relaxed).newValue)")
    }

    /// The URL of the schema for a folder whose name ends with a UUID; created if missing.
    public func schema(of folder: String) -> String {
        schema(named: "folder_" + folder.suffix(36).lowercased().replacing("-", with: "_"))
    }

    private func schema(named name: String) -> String {
        run("CREATE SCHEMA IF NOT EXISTS \(name)")
        return "\(url)&options=-csearch_path%3D\(name)"
    }

    /// A schema without rows: one that was given back, or a new one.
    fileprivate func borrow() -> String {
        pool.withLock { pool in pool.clean.popLast() } ?? newSchema()
    }

    /// Takes a borrowed schema back, and deletes its rows and their statistics, which would change the plans of a
    /// later test. Traps if its tables are not those of the other schemas.
    fileprivate func giveBack(_ url: String) {
        guard let name = url.split(separator: "%3D").last else { return }
        // Sessions of a database that was closed may still analyse its tables. The statements can then fail, and
        // the schema is not used again.
        let tables = attempt(
            """
            DO $$
            DECLARE name regclass;
            BEGIN
                FOR name IN
                    SELECT oid FROM pg_class
                    WHERE relnamespace = '\(name)'::regnamespace AND relkind = 'r'
                        AND relname <> 'schema_migrations' AND pg_relation_size(oid) > 0
                LOOP EXECUTE 'TRUNCATE ' || name; END LOOP;
                DELETE FROM pg_statistic WHERE starelid IN (
                    SELECT oid FROM pg_class WHERE relnamespace = '\(name)'::regnamespace);
                UPDATE pg_class SET reltuples = -1, relpages = 0
                WHERE relnamespace = '\(name)'::regnamespace AND relkind = 'r' AND reltuples >= 0;
            END $$;
            SELECT md5(string_agg(item, ',' ORDER BY item)) FROM (
                SELECT concat_ws(' ', relname, reloptions, attname, atttypid, attnotnull)
                FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
                WHERE relnamespace = '\(name)'::regnamespace AND attnum > 0
                UNION ALL
                SELECT tgname FROM pg_class JOIN pg_trigger ON tgrelid = pg_class.oid
                WHERE relnamespace = '\(name)'::regnamespace
                UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = '\(name)'::regnamespace
            ) AS items (item)
            """)
        guard case .success(let tables) = tables else { return }
        pool.withLock { pool in
            precondition(
                pool.tables ?? tables == tables,
                "a test changed the tables of a borrowed schema; it needs `newSchema()`")
            pool.tables = tables
            pool.clean.append(url)
        }
    }

    /// Whether tests for any engine use this server: `make test` runs them twice.
    public static let isChosen =
        ProcessInfo.processInfo.environment["PARLEY_TEST_DATABASE"] == "postgres"

    /// Runs statements as the server's owner, and returns the first value of the last result; an error traps.
    @discardableResult
    public func run(_ statements: String) -> String {
        switch attempt(statements) {
        case .success(let value): return value
        case .failure(let failure): preconditionFailure(failure.message)
        }
    }

    private struct Failure: Error {
        let message: String
    }

    private func attempt(_ statements: String) -> Result<String, Failure> {
        let connection = PQconnectdb(url)
        defer { PQfinish(connection) }
        let result = PQexec(connection, statements)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            return .failure(Failure(message: String(cString: PQerrorMessage(connection))))
        }
        return .success(PQntuples(result) > 0 ? String(cString: PQgetvalue(result, 0, 0)) : "")
    }

    /// The folder of its socket and its certificate, `server.crt`.
    public var folder: String { url.split(separator: "=").last.map(String.init) ?? "" }

    /// The URL of an empty schema, over TCP on the loopback interface; ends with query parameters.
    public func newSchema(overTCPAs user: String) -> String {
        let port = url.split(separator: "port=").last?.prefix { $0 != "&" } ?? ""
        let path = newSchema().split(separator: "&options").last ?? ""
        return "postgres://\(user)@127.0.0.1:\(port)/parley?options\(path)"
    }
}

/// An empty schema of the shared server, for a test that opens a database on it and changes only rows: a later
/// test borrows it with the tables that this one created. The databases must be closed before the last
/// reference goes.
public final class BorrowedSchema: Sendable {
    /// The URL of the schema.
    public let url = PostgresServer.shared.borrow()

    /// Borrows a schema.
    public init() {}

    deinit { PostgresServer.shared.giveBack(url) }

    /// Closes a database, and only then lets this reference go; returns at once. For a `deinit`, which may run on a
    /// queue of that database, for whose end closing waits.
    public func release(after close: @escaping @Sendable () -> Void) {
        DispatchQueue.global().async { withExtendedLifetime(self, close) }
    }
}
