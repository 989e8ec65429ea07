import ArgumentParser
import FoundationEssentials
import ParleyKit

/// A client of one user in the terminal, made of ParleyKit alone.
struct Chat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads and writes the conversations of a user, offline too.",
        discussion: """
            It prints what it knows at once, and what arrives as it arrives. A line of text is sent to the open conversation; \
            /help lists the commands. Everything is stored in the folder of --store, and what was written without a \
            connection is sent later.
            """)

    @Option(help: "The server's URL.") var server = "http://127.0.0.1:8080"
    @Option(help: "The application's id.") var app: String
    @Option(help: "The user's id.") var user: String
    @Option(
        help: "A session token of the user; without it the server needs the setting api.dev_login.")
    var session: String?
    @Option(help: "The folder of the store; default: ~/.parley/chat-{user}.") var store: String?

    func run() async throws {
        guard let url = URL(string: server) else {
            throw ValidationError("--server must be a URL")
        }
        let folder =
            store.map { path in URL(filePath: path) }
            ?? FileManager.default.homeDirectoryForCurrentUser
            .appending(path: ".parley/chat-\(user)")
        let configuration =
            session.map { token in
                Configuration(
                    server: url, application: app, store: folder, sessionToken: token,
                    of: UserID(user))
            }
            ?? Configuration(
                server: url, application: app, store: folder, developmentUser: UserID(user))
        do {
            let client = try await ParleyClient(configuration)
            var chat = ChatSession(client, of: UserID(user))
            try await chat.run()
            await client.close()
        } catch let error as ParleyError {
            throw ValidationError(error.message)
        }
    }
}
