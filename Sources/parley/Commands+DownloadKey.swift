import ArgumentParser
import ParleyServer

struct DownloadKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replaces the keys that sign download URLs.", subcommands: [Rotate.self])

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Has the next key sign; a running server follows at SIGHUP.")
        @OptionGroup var settings: SettingsOptions
        @Flag(help: "URLs signed so far open nothing any more: a key is not secret any more.")
        var forget = false

        func run() async throws {
            try await settings.run { sources in
                try await Command.rotateDownloadKey(sources, forgets: forget)
            }
        }
    }
}
