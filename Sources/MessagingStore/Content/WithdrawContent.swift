public import Messaging
import SQL

extension MessagingStore {
    /// Forgets a content, unless a message shows it; looks and forgets in one step.
    ///
    /// - Returns: False when a message shows it. True also when there is no such content.
    public func withdrawContent(_ id: Content.ID) async throws -> Bool {
        guard let owner = try await contentOwner(of: id) else { return true }
        return try await change(in: owner) { recording in
            guard try recording.transaction.content(id, in: owner) != nil else { return true }
            guard try !recording.transaction.isAttached(id, in: owner) else { return false }
            try recording.record(.contentWithdrawn(id))
            return true
        }
    }

    private func contentOwner(of id: Content.ID) async throws -> Application.ID? {
        try await database.read { transaction in try transaction.owner(of: id) }
    }
}

extension Transaction {
    /// Whether a message shows a content.
    fileprivate func isAttached(_ id: Content.ID, in application: Application.ID) throws -> Bool {
        try first(
            "SELECT 1 FROM parts WHERE application = \(application) AND content = \(id) LIMIT 1"
        ) { _ in true } ?? false
    }
}
