internal import CPostgres
internal import FoundationEssentials
internal import Synchronization

/// The PostgreSQL server for the tests of this process. It starts with the first use and ends with
/// the process (see `postgres.sh`).
public final class PostgresServer: Sendable {
    /// The shared server.
    public static let shared = PostgresServer()

    /// Its URL for libpq; the user needs no password.
    public let url: String
    private let server: HelperProcess
    private let schemas = Atomic<Int>(0)

    /// Starts a server of its own, for a test that stops it; traps if there is no PostgreSQL.
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

    /// Drops a schema.
    public func drop(_ url: String) {
        guard let name = url.split(separator: "%3D").last else { return }
        // PostgreSQL would otherwise print every dropped table.
        run("SET client_min_messages = warning; DROP SCHEMA \(name) CASCADE")
    }

    /// Whether tests for any engine use this server: `make test` runs them twice.
    public static let isChosen =
        ProcessInfo.processInfo.environment["PARLEY_TEST_DATABASE"] == "postgres"

    /// Runs statements as the server's owner; an error fails the test.
    public func run(_ statements: String) {
        let connection = PQconnectdb(url)
        defer { PQfinish(connection) }
        let result = PQexec(connection, statements)
        defer { PQclear(result) }
        let isGood = [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result))
        precondition(isGood, String(cString: PQerrorMessage(connection)))
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
