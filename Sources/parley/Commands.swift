import ArgumentParser
import ParleyServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serves until SIGTERM or SIGINT.")
    @OptionGroup var settings: SettingsOptions

    func run() async throws { try await settings.run(Command.serve) }
}

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tells every mistake in the settings, or that there is none.")
    @OptionGroup var settings: SettingsOptions

    func run() async throws { try await settings.run(Command.checkConfig) }
}

struct HealthCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Asks the server on this machine whether it is ready."
    )
    @OptionGroup var settings: SettingsOptions

    func run() async throws { try await settings.run(Command.healthCheck) }
}
