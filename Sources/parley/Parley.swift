import ArgumentParser
import ParleyServer

/// The command line program; each command calls one function of `ParleyServer`.
@main struct Parley: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parley", abstract: "A self-hosted messaging server.",
        version: Release.version,
        subcommands: [
            Serve.self, App.self, Token.self, DevLogin.self, ConsoleCommand.self, Log.self,
            Backup.self, Restore.self,
            ResetFeeds.self, Migrate.self,
            Export.self, Import.self,
            DownloadKey.self, CheckConfig.self, HealthCheck.self, DevelopmentCertificate.self,
            Upload.self, Chat.self,
        ])

    /// Runs a command, unless an argument is empty: an unset shell variable would otherwise look
    /// like an option that was not given.
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        if let place = words.firstIndex(of: "") {
            let option = place > 0 ? words[place - 1] : ""
            exit(withError: .empty(option.hasPrefix("-") ? option : "an argument"))
        }
        if let word = words.first(where: {
            $0.hasPrefix("--") && $0.firstIndex(of: "=") == $0.indices.last
        }) {
            exit(withError: .empty(String(word.dropLast())))
        }
        await main(words)
    }
}

extension Error where Self == ValidationError {
    fileprivate static func empty(_ what: String) -> ValidationError {
        ValidationError("\(what) is empty: it needs a value")
    }
}

/// The options of every command.
struct SettingsOptions: ParsableArguments {
    @Option(help: "The settings file; default: Config/parley.json, if it exists.")
    var config: String?

    @Option(
        help: "Where to listen: HOST:PORT, [IPV6]:PORT or unix:PATH, several separated by commas.")
    var listen: String?

    @Option(help: "The folder of the database, uploads and contents.")
    var data: String?

    @Option(help: "The base of all URLs in answers.")
    var publicURL: String?

    @Option(help: "The lowest level that is logged.")
    var logLevel: String?

    @Option(help: ArgumentHelp("Any setting; may be repeated.", valueName: "key=value"))
    var set: [String] = []

    /// The settings of the command line, the environment and the file.
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

    /// Runs a command with the settings and exits with its exit code.
    func run(_ command: (SettingsSources) async throws -> Int32) async throws {
        throw ExitCode(await Command.run { try await command(sources()) })
    }
}
