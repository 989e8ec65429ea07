import FoundationEssentials

@testable import ParleyServer

/// A server's parts over a folder of their own, which goes with this object.
final class Scratch: Sendable {
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

    func parts() async throws -> Parts {
        try await Parts(settings, log: Log(level: settings.logLevel))
    }
}
