import ArgumentParser
import ParleyServer

struct App: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates, lists and suspends applications.",
        subcommands: [Create.self, List.self, Suspend.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Creates an application and prints its id.")
        @OptionGroup var settings: SettingsOptions
        @Argument(help: "The application's name.") var name: String

        func run() async throws {
            try await settings.run { sources in
                try await Command.createApplication(sources, name: name)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists applications: id, state, creation, name.")
        @OptionGroup var settings: SettingsOptions

        func run() async throws { try await settings.run(Command.listApplications) }
    }

    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Suspends an application: all its tokens are refused.")
        @OptionGroup var settings: SettingsOptions
        @Argument(help: "The application's id.") var id: String
        @Flag(help: "Accept its tokens again.") var lift = false

        func run() async throws {
            try await settings.run { sources in
                try await Command.suspendApplication(sources, id, lifting: lift)
            }
        }
    }
}

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates, lists and revokes tokens of an application.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Creates a token; its secret is shown only once.")
        @OptionGroup var settings: SettingsOptions
        @Option(help: "The application's id.") var app: String
        @Option(help: "read, write or admin.") var scope = "admin"
        @Option(help: "When it expires: 30d from now, or 2030-01-31T00:00:00Z; default: never.")
        var expires: String?

        func run() async throws {
            try await settings.run { sources in
                try await Command.createToken(
                    sources, application: app, scope: scope, expiry: expires)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists tokens: id, scope, state, creation, expiry.")
        @OptionGroup var settings: SettingsOptions
        @Option(help: "The application's id.") var app: String

        func run() async throws {
            try await settings.run { sources in
                try await Command.listTokens(sources, application: app)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revokes a token.")
        @OptionGroup var settings: SettingsOptions
        @Option(help: "The application's id.") var app: String
        @Argument(help: "The token's id, as the list shows it.") var id: String

        func run() async throws {
            try await settings.run { sources in
                try await Command.revokeToken(sources, application: app, id)
            }
        }
    }
}

struct DevLogin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Begins a session of a user, to try things out, and prints its token.",
        discussion: "The token is valid for a day, like one of POST /sessions.")
    @OptionGroup var settings: SettingsOptions
    @Option(help: "The application's id.") var app: String
    @Option(help: "The user's id; an unknown user is created.") var user: String

    func run() async throws {
        try await settings.run { sources in
            try await Command.logInForDevelopment(sources, application: app, user: user)
        }
    }
}

struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the event log of an application, one line per event.")
    @OptionGroup var settings: SettingsOptions
    @Option(help: "The application's id.") var app: String
    @Option(help: "The position after which to start; default: the oldest event.") var after: Int64?
    @Flag(help: "Continue with new events.") var follow = false

    func run() async throws {
        try await settings.run { sources in
            try await Command.log(sources, application: app, after: after, following: follow)
        }
    }
}

struct Upload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Uploads a file to a conversation; if interrupted, run it again to resume.",
        discussion: """
            The token is taken from PARLEY_APP_TOKEN, because other users can see a command's arguments. \
            The state of an interrupted upload is stored in the user's cache folder and is no longer needed \
            once CONTENT is printed.
            """)

    @Argument(help: "The file.") var file: String
    @Option(help: "The conversation's id or URL.") var conversation: String
    @Option(help: "The application's id; default: PARLEY_APP_ID.") var app: String?
    @Option(help: "The server; default: PARLEY_PUBLIC_URL, or http://127.0.0.1:8080.")
    var server: String?
    @Option(help: "The media type; default: by the file's extension.")
    var type: String?

    func run() async throws {
        throw ExitCode(
            await Command.run {
                try await Command.upload(
                    file, to: conversation, application: app, server: server, type: type)
            })
    }
}
