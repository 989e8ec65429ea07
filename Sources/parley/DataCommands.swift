import ArgumentParser
import ParleyServer

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Exports an application, one JSON object per line.",
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
        abstract:
            "Imports a file of parley export; existing data stays, distinct conversations are merged.",
        discussion: """
            Existing objects stay as they are. If interrupted, run the same command again to resume. \
            No server may use the data folder of an embedded database meanwhile.
            """)
    @OptionGroup var settings: SettingsOptions
    @Argument(help: "The file; - for the standard input.") var file: String
    @Option(help: ArgumentHelp("The folder with its contents.", valueName: "dir"))
    var contents: String?

    func run() async throws {
        try await settings.run { sources in
            try await Command.importExport(sources, from: file, contents: contents)
        }
    }
}

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Backs up the embedded database and all contents, also while a server runs.",
        discussion: """
            The folder must be empty or missing. If interrupted, run the same command again to resume. \
            Open uploads are left out.
            """)
    @OptionGroup var settings: SettingsOptions
    @Argument(help: "The folder for the backup.") var folder: String

    func run() async throws {
        try await settings.run { sources in try await Command.backup(sources, to: folder) }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restores a backup into an empty data folder and verifies all of it.",
        discussion:
            "If interrupted, run the same command again to resume; no server starts before that.")
    @OptionGroup var settings: SettingsOptions
    @Argument(help: "The folder that parley backup has made.") var folder: String

    func run() async throws {
        try await settings.run { sources in try await Command.restore(sources, from: folder) }
    }
}

struct ResetFeeds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-feeds",
        abstract: "Makes all clients read their feeds from the beginning.",
        discussion: """
            Needed once after a PostgreSQL database was restored from a backup, before servers start: \
            clients may have seen changes that the backup does not have. 'parley restore' does it itself.
            """)
    @OptionGroup var settings: SettingsOptions

    func run() async throws {
        try await settings.run { sources in try await Command.resetFeeds(sources) }
    }
}

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Migrates an embedded database to a PostgreSQL server, and verifies every row.",
        discussion: """
            No server may use the folder meanwhile, and the target database must be empty. If \
            interrupted, run the same command again to resume. If contents are copied, open uploads \
            are left out.
            """)
    @OptionGroup var settings: SettingsOptions
    @Option(help: ArgumentHelp("The data folder.", valueName: "sqlite:DIR")) var from: String
    @Option(help: ArgumentHelp("The database; default: database.url.", valueName: "postgres://…"))
    var to: String?
    @Option(
        help:
            "Where to copy contents: a data folder, or 'bucket' for s3.bucket; default: not copied."
    )
    var blobs: String?

    func run() async throws {
        try await settings.run { sources in
            try await Command.migrate(sources, from: from, to: to, blobs: blobs)
        }
    }
}
