public import Messaging

extension MessagingStore {
    /// Makes a completely uploaded file known; only now is there a content (R24).
    ///
    /// Telling it again, as after a crash between storing and telling, changes nothing.
    ///
    /// - Parameters:
    ///   - user: On whose behalf it was uploaded; `nil` for the system's.
    ///   - quota: Most bytes of all contents of the application; `nil` for no bound.
    /// - Returns: False when there would be more, and nothing is changed.
    /// - Throws: `Rejection.objectDeleted` when its conversation was deleted meanwhile.
    @discardableResult
    public func finishUpload(
        _ content: Content, by user: UserID? = nil, within quota: Int64? = nil,
        in application: Application.ID
    ) async throws -> Bool {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            guard try transaction.content(content.id, in: application) == nil else { return true }
            var content = content
            // It may have been merged into another one while its content arrived (X1.2).
            content.conversation = try content.conversation.map { conversation in
                try transaction.livingConversation(conversation, in: application)
            }
            if let quota {
                let (sum, overflow) = try transaction.contentBytes(in: application)
                    .addingReportingOverflow(content.size)
                guard !overflow, sum <= quota else { return false }
            }
            try recording.record(.contentUploaded(content))
            if let user { try recording.record(.contentOwned(content.id, by: user)) }
            return true
        }
    }
}
