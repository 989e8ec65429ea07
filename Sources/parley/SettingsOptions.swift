import ArgumentParser
import ParleyServer

/// The flags that every command takes.
struct SettingsOptions: ParsableArguments {
    @Option(help: "The settings file; without it Config/parley.json, if it is there.")
    var config: String?

    @Option(help: "Where to listen: HOST:PORT, [IPV6]:PORT or unix:PATH, several with commas.")
    var listen: String?

    @Option(help: "The folder of the database, uploads and contents.")
    var data: String?

    @Option(help: "The base of every URL handed out.")
    var publicURL: String?

    @Option(help: "The lowest level that is logged.")
    var logLevel: String?

    @Option(help: ArgumentHelp("Any setting, as often as needed.", valueName: "key=value"))
    var set: [String] = []

    /// Everything that was said about settings, the environment and the file included.
    func sources() throws -> SettingsSources {
        let named = [
            ("http.listen", listen, "--listen"), ("data.folder", data, "--data"),
            ("public_url", publicURL, "--public-url"), ("log.level", logLevel, "--log-level"),
        ]
        let others = set.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return SettingsSources.Flag(
                String(parts[0]), parts.count > 1 ? String(parts[1]) : "", name: "--set")
        }
        return try SettingsSources(
            file: config,
            flags: others
                + named.compactMap { key, value, name in
                    value.map { value in SettingsSources.Flag(key, value, name: name) }
                })
    }

    /// Runs a command with them and ends the process with its exit code.
    func run(_ command: (SettingsSources) async throws -> Int32) async throws {
        throw ExitCode(await Command.run { try await command(sources()) })
    }
}
