import ArgumentParser
import ParleyServer

/// The program; each command is one line of arguments around one function of `ParleyServer`.
@main struct Parley: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parley", abstract: "A self-hosted messaging server.",
        version: Release.version,
        subcommands: [
            Serve.self, App.self, Token.self, Log.self, Backup.self, Restore.self, Migrate.self,
            Export.self, Import.self,
            DownloadKey.self, CheckConfig.self, HealthCheck.self, DevelopmentCertificate.self,
            Upload.self,
        ])

    /// Runs a command, unless a word of it is empty: a variable of the shell that nobody has set would
    /// otherwise be taken for an option that was not given.
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
