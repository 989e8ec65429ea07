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
