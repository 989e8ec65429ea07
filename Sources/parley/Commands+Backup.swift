import ArgumentParser
import ParleyServer

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Saves the embedded database and all contents, also while a server runs.",
        discussion: """
            The folder has to be empty or missing. Stopped in the midst, the same command goes on. \
            Uploads under way are left out.
            """)
    @OptionGroup var settings: SettingsOptions
    @Argument(help: "The folder to save into.") var folder: String

    func run() async throws {
        try await settings.run { sources in try await Command.backup(sources, to: folder) }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings a backup back into an empty data folder, and verifies all of it.",
        discussion: "Stopped in the midst, the same command goes on; no server starts before.")
    @OptionGroup var settings: SettingsOptions
    @Argument(help: "The folder that parley backup has made.") var folder: String

    func run() async throws {
        try await settings.run { sources in try await Command.restore(sources, from: folder) }
    }
}
