import ArgumentParser
import ParleyServer

struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints what has happened in an application, a line for each event.")
    @OptionGroup var settings: SettingsOptions
    @Option(help: "The application's id.") var app: String
    @Option(help: "The position behind which to begin; the oldest unless said.") var after: Int64?
    @Flag(help: "Go on with what happens.") var follow = false

    func run() async throws {
        try await settings.run { sources in
            try await Command.log(sources, application: app, after: after, following: follow)
        }
    }
}
