public import Messaging

extension MessagingStore {
    /// Sets the external part of a user's badge; the same again is recorded too, as it is pushed.
    ///
    /// - Parameter count: One of `Badge.externalUnreadCounts`.
    /// - Throws: `Rejection.notFound(.user)` for one nobody has named (rulings 19).
    public func setBadge(
        of user: UserID, externalUnreadCount count: Int64, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            try recording.transaction.requireUser(user, in: application)
            try recording.record(.badgeSet(user, externalUnreadCount: count))
        }
    }
}
