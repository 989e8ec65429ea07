import ArgumentParser
import ParleyServer

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes everything of an application, one JSON object a line.",
        discussion: """
            The same data gives the same bytes, on either engine, also while a server runs. Tokens, \
            webhooks and the event log stay where they are.
            """)
    @OptionGroup var settings: SettingsOptions
    @Option(help: ArgumentHelp("The application.", valueName: "id")) var app: String
    @Option(help: ArgumentHelp("The folder to copy contents to.", valueName: "dir"))
    var contents: String?

    func run() async throws {
        try await settings.run { sources in
            try await Command.export(sources, application: app, contents: contents)
        }
    }
}

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings what parley export has written, and merges what was made on both sides.",
        discussion: """
            What is there already stays as it is. Stopped in the midst, the same command goes on. \
            Nobody may serve the data folder of an embedded database meanwhile.
            """)
    @OptionGroup var settings: SettingsOptions
    @Argument(help: "The file; - for the standard input.") var file: String
    @Option(help: ArgumentHelp("The folder that its contents lie in.", valueName: "dir"))
    var contents: String?

    func run() async throws {
        try await settings.run { sources in
            try await Command.importExport(sources, from: file, contents: contents)
        }
    }
}

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Saves the embedded database and all contents, also while a server runs.",
        discussion: """
            The folder has to be empty or missing. Stopped in the midst, the same command goes on. \
            Uploads under way are left out.
            """)
    @OptionGroup var settings: SettingsOptions
    @Argument(help: "The folder to save into.") var folder: String

    func run() async throws {
        try await settings.run { sources in try await Command.backup(sources, to: folder) }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings a backup back into an empty data folder, and verifies all of it.",
        discussion: "Stopped in the midst, the same command goes on; no server starts before.")
    @OptionGroup var settings: SettingsOptions
    @Argument(help: "The folder that parley backup has made.") var folder: String

    func run() async throws {
        try await settings.run { sources in try await Command.restore(sources, from: folder) }
    }
}

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
