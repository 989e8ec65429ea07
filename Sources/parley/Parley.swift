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
}
