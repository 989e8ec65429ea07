internal import CPostgres
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// A PostgreSQL server of this process's tests: started when the first one asks, gone with the process,
/// however that ends (see `postgres.sh`).
public final class PostgresServer: Sendable {
    /// The one they share.
    public static let shared = PostgresServer()

    /// Where it is, as libpq reads it; the user needs no password.
    public let url: String
    /// The end of a pipe the server waits at, and of the one it answers through.
    private let lifeline: Int32
    private let answers: Int32
    private let schemas = Atomic<Int>(0)

    /// Starts one of its own, for a test that takes it away; without a server no test can go on.
    public init() {
        let (input, output) = (Self.pipe(), Self.pipe())
        lifeline = input.writing
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.reading, 0)
        posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        let script = URL(filePath: #filePath).deletingLastPathComponent().path + "/postgres.sh"
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("bash"), strdup(script), nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, "bash", &actions, nil, words, environ)
        precondition(code == 0, "there is no bash: \(code)")
        close(input.reading)
        close(output.writing)
        answers = output.reading
        url = Self.line(from: answers)
        precondition(url.hasPrefix("postgres://"), "PostgreSQL did not start; it says why above")
    }

    deinit {
        close(lifeline)
        close(answers)
    }

    /// What can be done to one that is not shared.
    public enum Command: String {
        case stop, crash, start
    }

    /// Does it, and waits until it is done.
    public func tell(_ command: Command) {
        let words = Array("\(command.rawValue)\n".utf8)
        _ = write(lifeline, words, words.count)
        let answer = Self.line(from: answers)
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

    /// The folder its socket is in.
    public var folder: String { url.split(separator: "=").last.map(String.init) ?? "" }

    private static func pipe() -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        // Not inherited: a child started meanwhile would hold the server.
        let code = Glibc.pipe(&ends)
        precondition(code == 0, "no pipe: \(errno)")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func line(from descriptor: Int32) -> String {
        var (text, octet): ([UInt8], [UInt8]) = ([], [0])
        while Glibc.read(descriptor, &octet, 1) == 1, octet[0] != 10 { text += octet }
        return String(decoding: text, as: UTF8.self)
    }
}
