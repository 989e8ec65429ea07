internal import CPostgres
internal import FoundationEssentials
internal import Synchronization

/// A PostgreSQL server of this process's tests: started when the first one asks, gone with the process,
/// however that ends (see `postgres.sh`).
public final class PostgresServer: Sendable {
    /// The one they share.
    public static let shared = PostgresServer()

    /// Where it is, as libpq reads it; the user needs no password.
    public let url: String
    private let server: HelperProcess
    private let schemas = Atomic<Int>(0)

    /// Starts one of its own, for a test that takes it away; without a server no test can go on.
    public init() {
        server = HelperProcess("postgres.sh", by: "bash")
        url = server.line()
        precondition(url.hasPrefix("postgres://"), "PostgreSQL did not start; it says why above")
    }

    /// What can be done to one that is not shared.
    public enum Command: String {
        case stop, crash, start
    }

    /// Does it, and waits until it is done.
    public func tell(_ command: Command) {
        let answer = server.tell(command.rawValue)
        precondition(answer == command.rawValue, "PostgreSQL did not \(command); it says why above")
    }

    /// The URL of an empty schema of this server.
    public func newSchema() -> String {
        schema(named: "test\(schemas.add(1, ordering: .relaxed).newValue)")
    }

    /// The URL of the schema that belongs to a folder whose name ends in a UUID; made when there is none.
    public func schema(of folder: String) -> String {
        schema(named: "folder_" + folder.suffix(36).lowercased().replacing("-", with: "_"))
    }

    private func schema(named name: String) -> String {
        run("CREATE SCHEMA IF NOT EXISTS \(name)")
        return "\(url)&options=-csearch_path%3D\(name)"
    }

    /// Takes a schema away with all that is in it.
    public func drop(_ url: String) {
        guard let name = url.split(separator: "%3D").last else { return }
        // It would name every table that goes.
        run("SET client_min_messages = warning; DROP SCHEMA \(name) CASCADE")
    }

    /// Whether tests that have no engine of their own run on this server: `make test` runs them twice.
    public static let isChosen =
        ProcessInfo.processInfo.environment["PARLEY_TEST_DATABASE"] == "postgres"

    /// Runs something as the server's owner; what cannot be run fails the test.
    public func run(_ statements: String) {
        let connection = PQconnectdb(url)
        defer { PQfinish(connection) }
        let result = PQexec(connection, statements)
        defer { PQclear(result) }
        let isGood = [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result))
        precondition(isGood, String(cString: PQerrorMessage(connection)))
    }

    /// The folder its socket and its certificate, `server.crt`, are in.
    public var folder: String { url.split(separator: "=").last.map(String.init) ?? "" }

    /// The URL of an empty schema, over TCP on the loopback; it ends in parameters.
    public func newSchema(overTCPAs user: String) -> String {
        let port = url.split(separator: "port=").last?.prefix { $0 != "&" } ?? ""
        let path = newSchema().split(separator: "&options").last ?? ""
        return "postgres://\(user)@127.0.0.1:\(port)/parley?options\(path)"
    }
}
