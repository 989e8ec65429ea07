import ArgumentParser
import ParleyServer

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings an embedded database to a PostgreSQL server, and verifies every row.",
        discussion: """
            Nobody may serve the folder meanwhile, and the database there has to be empty. Stopped in \
            the midst, the same command goes on. Uploads under way are left out where contents move.
            """)
    @OptionGroup var settings: SettingsOptions
    @Option(help: ArgumentHelp("The data folder.", valueName: "sqlite:DIR")) var from: String
    @Option(help: ArgumentHelp("The database; else database.url.", valueName: "postgres://…"))
    var to: String?
    @Option(help: "Where contents go: a data folder, or 'bucket' for s3.bucket; else they stay.")
    var blobs: String?

    func run() async throws {
        try await settings.run { sources in
            try await Command.migrate(sources, from: from, to: to, blobs: blobs)
        }
    }
}
