import ArgumentParser
import ParleyServer

struct App: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes, lists and suspends applications.",
        subcommands: [Create.self, List.self, Suspend.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes an application and prints its id.")
        @OptionGroup var settings: SettingsOptions
        @Argument(help: "What to call it.") var name: String

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
            abstract: "Refuses all tokens of an application.")
        @OptionGroup var settings: SettingsOptions
        @Argument(help: "Its id.") var id: String
        @Flag(help: "Accept its tokens again.") var lift = false

        func run() async throws {
            try await settings.run { sources in
                try await Command.suspendApplication(sources, id, lifting: lift)
            }
        }
    }
}
