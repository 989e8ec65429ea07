import FoundationEssentials
import Glibc
import Messaging
import MessagingStore
import SQL
import SQLPostgres

/// The commands of the program: they take settings, print lines and return an exit code.
public enum Command {
    /// Reads the settings.
    ///
    /// - Throws: ``CommandFailure`` with one line per error in the settings.
    static func settings(_ sources: SettingsSources) throws(CommandFailure) -> Settings {
        let reader = SettingsReader(sources)
        guard reader.errors.isEmpty else {
            throw CommandFailure(
                reader.errors.map { error in "setting \(error)" }.joined(separator: "\n"))
        }
        return reader.settings
    }

    /// Runs a command and returns its exit code; errors are printed to standard error, one line
    /// each.
    public static func run(_ work: () async throws -> Int32) async -> Int32 {
        do {
            return try await work()
        } catch {
            for line in "\(error)".split(separator: "\n") { printError("parley: \(line)") }
            return 1
        }
    }

    /// Prints a line to standard output at once.
    static func printLine(_ line: String) {
        print(line)
        // A pipe would otherwise get the line only when the process ends.
        fflush(nil)
    }

    /// Prints a line to standard error.
    static func printError(_ line: String, end: String = "\n") {
        let bytes = Array("\(line)\(end)".utf8)
        // Safe: the array lives through the call. A closed terminal is ignored.
        _ = unsafe write(2, bytes, bytes.count)
    }

    /// Opens the store for a command, also while a server uses it: the database allows one writing
    /// process at a time, so the folder's lock, which a server holds, is not needed.
    ///
    /// - Parameter making: Whether to create a missing database.
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

    /// Formats a time in RFC 3339, UTC.
    static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }

    /// Reads `30d`, `12h` … from now, or a future time in RFC 3339.
    static func moment(_ text: String, after now: Timestamp) throws(CommandFailure) -> Timestamp {
        if let milliseconds = Quantity.time.value(text), (1...Self.century).contains(milliseconds) {
            return Timestamp(milliseconds: now.milliseconds + milliseconds)
        }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw CommandFailure(
                "\(text) is neither a time such as 30d nor a moment such as 2030-01-31T00:00:00Z")
        }
        let moment = Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1000))
        guard moment > now else { throw CommandFailure("\(text) is in the past") }
        return moment
    }

    private static let century: Int64 = 36_525 * 86_400_000
}

/// The program's name and version.
public enum Release {
    /// The program's name.
    public static let name = "Parley"
    /// The version, following semver.org.
    public static let version = "0.1.0"
}
