import FoundationEssentials
import Glibc
import SQL
import SQLPostgres
import TestSupport

/// Processes of the built server on one PostgreSQL server and one bucket, and a test server on the same tables,
/// which prepares the data and reads the log.
struct ServerCluster: Sendable {
    /// Sends each request to a random process.
    let client: RandomServerClient<SocketClient>
    let server: TestServer
    /// Ends the processes with this object.
    private let servers: HelperProcess

    private static let openings = [2, 3].reduce(into: [:]) { openings, count in
        openings[count] = Task { try await ServerCluster(of: count) }
    }

    /// A cluster of two or three processes, shared by all tests.
    static func of(_ count: Int) async throws -> ServerCluster {
        guard let opening = openings[count] else {
            throw ExchangeFile.ParseError(text: "there is no cluster of \(count) processes")
        }
        return try await opening.value
    }

    private init(of count: Int) async throws {
        guard let store = ObjectServer.shared else {
            throw ExchangeFile.ParseError(text: "there is no object store")
        }
        server = try await TestServer.onPostgres()
        servers = HelperProcess("server_cluster.py", by: "python3")
        let settings = [
            "PARLEY_PUBLIC_URL": TestServer.base, "PARLEY_HTTP_CORS_ORIGINS": "https://app.example",
            "PARLEY_S3_ENDPOINT": store.endpoint, "PARLEY_S3_BUCKET": ObjectServer.bucket,
            "PARLEY_S3_REGION": ObjectServer.region, "PARLEY_S3_PREFIX": ObjectServer.newPrefix(),
            "PARLEY_S3_ACCESS_KEY": ObjectServer.owner.key,
            "PARLEY_S3_SECRET_KEY": ObjectServer.owner.secret,
            // Hundreds of concurrent cases from one address.
            "PARLEY_API_MAX_MOVES": "1000", "PARLEY_HTTP_MAX_CONNECTIONS_PER_ADDRESS": "10000",
        ].map { name, value in "\(name)=\(value)" }
        let arguments = [TestEnvironment.binary, "\(count)", server.location] + settings
        let answer = servers.send(arguments.joined(separator: " ")).split(separator: " ")
        let ports = answer.dropFirst().compactMap { UInt16($0) }
        guard ports.count == count else {
            throw ExchangeFile.ParseError(text: answer.joined(separator: " "))
        }
        client = RandomServerClient(clients: ports.map { port in SocketClient(port: port) })
    }
}

/// The folder of all tests of this process; deleted when the process ends.
enum TestEnvironment {
    private static let root: String = {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "parley-api-\(getpid())").path
        // If this fails, a folder remains.
        atexit { try? FileManager.default.removeItem(atPath: TestEnvironment.root) }
        return path
    }()

    /// The server that was built with these tests.
    static var binary: String {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return "/" + (tests.split(separator: "/").dropLast() + ["parley"]).joined(separator: "/")
    }

    /// A new folder in it.
    static func folder() throws -> String {
        let path = "\(root)/\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// The database of a folder, on the engine of this test run.
    static func database(of folder: String) -> DatabaseLocation {
        PostgresServer.isChosen ? server(of: folder) : .file("\(folder)/database")
    }

    /// The database of a folder, on the other engine.
    static func otherDatabase(of folder: String) -> DatabaseLocation {
        PostgresServer.isChosen ? .file("\(folder)/database") : server(of: folder)
    }

    /// The database of a folder, on PostgreSQL.
    static func server(of folder: String) -> DatabaseLocation {
        .server(PostgresServer.shared.schema(of: folder))
    }
}
