public import Messaging
import SQL

extension MessagingStore {
    /// Forgets a content, unless a message shows it or will; looks and forgets in one step.
    ///
    /// - Returns: False when a message needs it. True also when there is no such content.
    public func withdrawContent(_ id: Content.ID) async throws -> Bool {
        guard let owner = try await contentOwner(of: id) else { return true }
        return try await change(in: owner) { recording in
            try recording.withdraw(id)
        }
    }

    private func contentOwner(of id: Content.ID) async throws -> Application.ID? {
        try await database.read { transaction in try transaction.owner(of: id) }
    }
}

extension Recording {
    /// Forgets a content that nobody needs.
    ///
    /// - Returns: False when somebody does.
    func withdraw(_ id: Content.ID) throws -> Bool {
        guard let uses = try transaction.useCount(of: id, in: application) else { return true }
        guard uses == 0 else { return false }
        try record(.contentWithdrawn(id))
        return true
    }
}

extension Transaction {
    /// How many parts and messages that wait need a content; `nil` when there is none.
    fileprivate func useCount(of id: Content.ID, in application: Application.ID) throws -> Int64? {
        try first(
            "SELECT use_count FROM contents WHERE application = \(application) AND id = \(id)"
        ) { row in try row.int64(0) }
    }
}
