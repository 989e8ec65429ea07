import ArgumentParser
import ParleyServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Starts the server; it runs until SIGTERM or SIGINT.")
    @OptionGroup var settings: SettingsOptions

    func run() async throws { try await settings.run(Command.serve) }
}

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Prints every error in the settings and in the files and addresses that they name."
    )
    @OptionGroup var settings: SettingsOptions

    func run() async throws { try await settings.run(Command.checkConfig) }
}

struct HealthCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Checks whether the server on this machine is ready."
    )
    @OptionGroup var settings: SettingsOptions

    func run() async throws { try await settings.run(Command.healthCheck) }
}

struct DownloadKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replaces the keys that sign download URLs.", subcommands: [Rotate.self])

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Signs with the next key; a running server reloads it on SIGHUP.")
        @OptionGroup var settings: SettingsOptions
        @Flag(help: "Invalidate all URLs signed so far, for example after a key was disclosed.")
        var forget = false

        func run() async throws {
            try await settings.run { sources in
                try await Command.rotateDownloadKey(sources, invalidatesURLs: forget)
            }
        }
    }
}

struct DevelopmentCertificate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev-cert",
        abstract: "Creates a certificate for trying TLS on this machine, and prints how to use it.")

    @Option(help: "The folder for cert.pem and key.pem.") var out: String
    @Option(help: "A further name or address of the certificate; may be repeated.")
    var host: [String] = []

    func run() async throws {
        throw ExitCode(
            await Command.run {
                try Command.makeDevelopmentCertificate(in: out, hosts: host)
            })
    }
}
