import FoundationEssentials
import Glibc
import Messaging
import MessagingStore
import SQL

/// What the commands have in common: settings come in, lines and an exit code go out.
public enum Command {
    /// Reads the settings, or tells every mistake.
    ///
    /// - Throws: ``CommandFailure`` with a line per mistake.
    static func settings(_ sources: SettingsSources) throws(CommandFailure) -> Settings {
        let reader = SettingsReader(sources)
        guard reader.mistakes.isEmpty else {
            throw CommandFailure(
                reader.mistakes.map { mistake in "setting \(mistake)" }.joined(separator: "\n"))
        }
        return reader.settings
    }

    /// Runs a command and gives its exit code; what goes wrong is one line per fault on the
    /// standard error.
    public static func run(_ work: () async throws -> Int32) async -> Int32 {
        do {
            return try await work()
        } catch {
            for line in "\(error)".split(separator: "\n") { tell("parley: \(line)") }
            return 1
        }
    }

    /// Writes a line for the person or the program that called, at once.
    static func say(_ line: String) {
        print(line)
        // A pipe would otherwise see the line when the process ends.
        fflush(nil)
    }

    /// Writes a line for the person who called, and not for a program that reads the output.
    static func tell(_ line: String, end: String = "\n") {
        let bytes = Array("\(line)\(end)".utf8)
        // Holds because the array lives through the call; a terminal that is gone cannot be told.
        _ = unsafe write(2, bytes, bytes.count)
    }
}

extension Command {
    /// Opens the store for a command, also while a server has it open: the database itself lets one
    /// process write at a time, so the folder's lock, which a server holds, is not taken.
    ///
    /// - Parameter making: Whether the file is made where there is none; a server has its database.
    static func withStore(
        _ sources: SettingsSources, making: Bool = false,
        _ work: (MessagingStore) async throws -> Void
    ) async throws -> Int32 {
        let settings = try settings(sources)
        if case .file = try settings.databaseLocation() {
            try DataFolder(path: settings.dataFolder).requireDatabase(making: making)
        }
        let database = try Database.open(settings)
        defer { database.close() }
        try await work(MessagingStore(database: database, limits: settings.messagingLimits))
        return 0
    }

    /// A moment for people and programs: RFC 3339 in UTC.
    static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }

    /// Reads `30d`, `12h` … from now, or a moment in RFC 3339 that is still to come.
    static func moment(_ text: String, after now: Timestamp) throws(CommandFailure) -> Timestamp {
        if let milliseconds = Quantity.time.value(text), (1...Self.century).contains(milliseconds) {
            return Timestamp(milliseconds: now.milliseconds + milliseconds)
        }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw CommandFailure(
                "\(text) is neither a time such as 30d nor a moment such as 2030-01-31T00:00:00Z")
        }
        let moment = Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1000))
        guard moment > now else { throw CommandFailure("\(text) is over") }
        return moment
    }

    private static let century: Int64 = 36_525 * 86_400_000
}

/// What this program calls itself.
public enum Release {
    /// Its name.
    public static let name = "Parley"
    /// Its version, as semver.org orders them.
    public static let version = "0.1.0"
}
