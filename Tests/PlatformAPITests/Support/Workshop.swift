import FoundationEssentials
import Glibc
import SQL
import TestSupport

/// The folder all tests of this process write into; gone when the process ends.
enum Workshop {
    private static let root: String = {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "parley-api-\(getpid())").path
        // A failure leaves a folder behind, which hurts nobody.
        atexit { try? FileManager.default.removeItem(atPath: Workshop.root) }
        return path
    }()

    /// The server as it was built with these tests.
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

    /// The database that belongs to a folder, on the engine these tests run on.
    static func database(of folder: String) -> DatabaseLocation {
        PostgresServer.isChosen ? server(of: folder) : .file("\(folder)/database")
    }

    /// The same on the other engine.
    static func otherDatabase(of folder: String) -> DatabaseLocation {
        PostgresServer.isChosen ? .file("\(folder)/database") : server(of: folder)
    }

    /// The database that belongs to a folder, on a PostgreSQL server.
    static func server(of folder: String) -> DatabaseLocation {
        .server(PostgresServer.shared.schema(of: folder))
    }
}
