import FoundationEssentials
import Messaging
import MessagingStore
import SQL

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
    static func moment(_ text: String, after now: Timestamp) throws(StartFailure) -> Timestamp {
        if let milliseconds = Quantity.time.value(text), (1...Self.century).contains(milliseconds) {
            return Timestamp(milliseconds: now.milliseconds + milliseconds)
        }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw StartFailure(
                "\(text) is neither a time such as 30d nor a moment such as 2030-01-31T00:00:00Z")
        }
        let moment = Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1000))
        guard moment > now else { throw StartFailure("\(text) is over") }
        return moment
    }

    private static let century: Int64 = 36_525 * 86_400_000
}
