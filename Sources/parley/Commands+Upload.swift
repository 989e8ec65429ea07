import ArgumentParser
import ParleyServer

struct Upload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings a file to a conversation; called again, it goes on where it was stopped.",
        discussion: """
            The token is taken from PARLEY_APP_TOKEN, for other users see the arguments of a command. \
            What is remembered between two calls lies in the user's cache folder, and is no longer \
            needed once CONTENT is printed.
            """)

    @Argument(help: "The file.") var file: String
    @Option(help: "The conversation's id or URL.") var conversation: String
    @Option(help: "The application's id; else PARLEY_APP_ID.") var app: String?
    @Option(help: "The server; else PARLEY_PUBLIC_URL, else http://127.0.0.1:8080.")
    var server: String?
    @Option(help: "The media type; else the one the file's ending stands for.")
    var type: String?

    func run() async throws {
        throw ExitCode(
            await Command.run {
                try await Command.upload(
                    file, to: conversation, application: app, server: server, type: type)
            })
    }
}
