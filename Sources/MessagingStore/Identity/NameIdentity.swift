public import Messaging

extension MessagingStore {
    /// Makes a user known, or says something new about him.
    public func nameIdentity(_ identity: Identity, in application: Application.ID) async throws {
        try await change(in: application) { recording in
            try recording.record(.identityNamed(identity))
        }
    }
}
