public import Messaging

extension MessagingStore {
    /// Sets how long the sessions of an application live that begin from now on (R94).
    ///
    /// - Parameter seconds: One of `Application.sessionLifetimes`.
    public func setSessionLifetime(
        _ seconds: Int64, of application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            guard let known = try recording.transaction.application(application) else {
                throw Rejection.notFound(.application)
            }
            guard known.sessionLifetime != seconds else { return }
            try recording.record(.sessionLifetimeSet(seconds: seconds))
        }
        authentication.forget()
    }
}
