import FoundationEssentials
import HTTP

@testable import ParleyServer

/// The components of a server in a temporary folder, which is removed with this object.
final class TestServer: Sendable {
    let path: String
    let settings: Settings

    /// Chooses a folder that does not exist yet.
    init(_ flags: [(key: String, value: String)] = []) {
        path = FileManager.default.temporaryDirectory
            .appending(path: "parley-server-tests-\(UUID().uuidString)").path()
        let always = [("data.folder", path), ("log.level", "critical")]
        settings =
            SettingsReader(
                SettingsSources(
                    flags: (always + flags).map { key, value in
                        SettingsSources.Flag(key, value, name: "test")
                    })
            ).settings
    }

    deinit {
        // If it fails, the folder remains in the system's temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }

    func components() async throws -> ServerComponents {
        try await ServerComponents(settings, log: ServerLog(level: settings.logLevel))
    }
}

extension Service {
    /// The complete response to a request without a body.
    func response(
        to method: HTTP.Method, _ path: String, fields: [(String, String)] = []
    ) async -> Response {
        let request = Request(
            method: method, target: RequestTarget(path), fields: Fields(fields))
        switch answer(to: request).outcome {
        case .response(let response): return response
        case .work(_, let work): return await work(NoBody())
        case .upgrade(let upgrade): return Response(upgrade)
        }
    }
}

extension Response {
    /// The body, if it is in memory.
    var bytes: [UInt8] {
        content.joinedBytes ?? []
    }
}

/// The body of a request without one.
private final class NoBody: RequestBody {
    var length: Int64? { 0 }
    func read(into buffer: inout BodyBuffer) async throws(BodyError) {}
    func interrupt() {}
}

/// The files of this repository.
enum Repository {
    static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// An article of ParleyServer.docc.
    static func article(_ name: String) throws -> String {
        try text("Sources/ParleyServer/ParleyServer.docc/\(name).md")
    }

    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    static func remove(_ path: String) {
        // If it fails, the file remains in the system's temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }
}
