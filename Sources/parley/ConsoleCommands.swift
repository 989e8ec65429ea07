import ArgumentParser
import ParleyServer

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Manages the operators of the console.",
        subcommands: [Password.self, Link.self, List.self, Remove.self])

    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets an operator's password; creates the operator if there is none.",
            discussion:
                "Asks for the password twice, or takes one line of the standard input. The operator's sessions end."
        )
        @OptionGroup var settings: SettingsOptions
        @Option(help: "The operator's name.") var name = "admin"
        @Option(help: "read, write or admin; default: as before, admin for a new operator.")
        var role: String?

        func run() async throws {
            try await settings.run { sources in
                try await Command.setConsolePassword(sources, name: name, role: role)
            }
        }
    }

    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a link that logs in once, within 15 minutes.")
        @OptionGroup var settings: SettingsOptions
        @Option(help: "The operator's name; created when the link is used.") var name = "admin"

        func run() async throws {
            try await settings.run { sources in
                try await Command.createConsoleLink(sources, name: name)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists operators: name, role, password, creation.")
        @OptionGroup var settings: SettingsOptions

        func run() async throws { try await settings.run(Command.listOperators) }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an operator, whose sessions end.")
        @OptionGroup var settings: SettingsOptions
        @Argument(help: "The operator's name.") var name: String

        func run() async throws {
            try await settings.run { sources in
                try await Command.removeOperator(sources, name: name)
            }
        }
    }
}
