public import Messaging

extension MessagingStore {
    /// Makes a completely uploaded file known; only now is there a content (R24).
    ///
    /// Telling it again, as after a crash between storing and telling, changes nothing.
    ///
    /// - Parameter user: On whose behalf it was uploaded; `nil` for the system's.
    /// - Throws: `Rejection.objectDeleted` when its conversation was deleted meanwhile.
    public func finishUpload(
        _ content: Content, by user: UserID? = nil, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            guard try transaction.content(content.id, in: application) == nil else { return }
            var content = content
            // It may have been merged into another one while its content arrived (X1.2).
            content.conversation = try content.conversation.map { conversation in
                try transaction.livingConversation(conversation, in: application)
            }
            try recording.record(.contentUploaded(content))
            if let user { try recording.record(.contentOwned(content.id, by: user)) }
        }
    }
}
