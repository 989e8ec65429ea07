import ArgumentParser
import ParleyServer

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes, lists and revokes tokens of an application.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a token; its secret is shown only now.")
        @OptionGroup var settings: SettingsOptions
        @Option(help: "The application's id.") var app: String
        @Option(help: "read, write or admin.") var scope = "admin"
        @Option(help: "When it ends: 30d from now, or 2030-01-31T00:00:00Z; never unless said.")
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
            abstract: "Lists tokens: id, scope, state, creation, end.")
        @OptionGroup var settings: SettingsOptions
        @Option(help: "The application's id.") var app: String

        func run() async throws {
            try await settings.run { sources in
                try await Command.listTokens(sources, application: app)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Refuses a token from now on.")
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
