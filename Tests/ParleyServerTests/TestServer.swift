import FoundationEssentials
import HTTP

@testable import ParleyServer

/// A server's parts over a folder of their own, which goes with this object.
final class TestServer: Sendable {
    let path: String
    let settings: Settings

    /// Names a folder that is not there yet.
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
        // Left behind in the system's temporary folder at worst.
        try? FileManager.default.removeItem(atPath: path)
    }

    func parts() async throws -> ServerComponents {
        try await ServerComponents(settings, log: Log(level: settings.logLevel))
    }
}

extension Service {
    /// The whole answer to a request without a body, with whatever it has to wait for.
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
    /// The content, when it is in memory.
    var bytes: [UInt8] {
        if case .bytes(let bytes) = content { bytes } else { [] }
    }
}

/// The body of a request without one.
private final class NoBody: RequestBody {
    var length: Int64? { 0 }
    func read(into buffer: inout BodyBuffer) async throws(BodyError) {}
    func interrupt() {}
}

/// The files beside the package's manifest.
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
        // Left behind in the system's temporary folder at worst.
        try? FileManager.default.removeItem(atPath: path)
    }
}
