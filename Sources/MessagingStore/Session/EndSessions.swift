public import Messaging

extension MessagingStore {
    /// Ends all sessions of a user that have begun by now (R92).
    ///
    /// - Throws: `Rejection.notFound(.user)` for one nobody has named (rulings 19).
    public func endSessions(of user: UserID, in application: Application.ID) async throws {
        try await change(in: application) { recording in
            try recording.transaction.requireUser(user, in: application)
            try recording.record(.sessionsEnded(user, at: recording.now))
        }
    }
}
