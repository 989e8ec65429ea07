public import Messaging

extension MessagingStore {
    /// Deletes a message for everybody (R29).
    ///
    /// - Parameters:
    ///   - conversation: The one it must belong to; `nil` for any.
    ///   - demand: What the message's version must be (X4).
    /// - Returns: Its conversation's own id, should an alias have been given.
    /// - Throws: `Rejection.notFound` of the conversation or the message, also of one deleted
    ///   already; `objectDeleted`; `VersionMismatch<MessageSnapshot>`.
    @discardableResult
    public func deleteMessage(
        _ id: Message.ID, in conversation: Conversation.ID?, if demand: VersionDemand = .any,
        in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { recording in
            let message = try recording.transaction.liveMessage(
                id, in: conversation, in: application)
            try demand.check(message.version) { try recording.snapshot(of: message) }
            try recording.remove(message)
            return message.conversation
        }
    }

    /// Deletes a message on behalf of a user, for everybody or for himself (R29).
    ///
    /// - Throws: `Rejection`: `notFound` of the user or of a message he does not see;
    ///   `accessDenied` for a former participant who would delete it for others (R14);
    ///   `VersionMismatch<MessageSnapshot>`.
    public func deleteMessage(
        _ id: Message.ID, forAll: Bool, by user: UserID, if demand: VersionDemand = .any,
        in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            try transaction.requireUser(user, in: application)
            let message = try transaction.visibleMessage(id, for: user, in: application)
            let (_, part) = try transaction.lockedConversation(
                message.conversation, for: user, in: application)
            if forAll { try part.requireWriting() }
            try demand.check(message.version) {
                try recording.snapshot(of: message, seenBy: user)
            }
            guard forAll else {
                return try recording.record(
                    .messageHidden(
                        MessageHidden(
                            message: message.id, conversation: message.conversation,
                            position: message.position, user: user, at: recording.now)))
            }
            try recording.remove(message)
        }
    }
}

extension Recording {
    /// Deletes a message for all, and keeps in the log what it was.
    fileprivate func remove(_ message: Message) throws {
        let recipients = try snapshot(of: message).recipients.map { recipient in
            MessageRemoved.Recipient(user: recipient.userID, status: recipient.status)
        }
        try record(
            .messageRemoved(MessageRemoved(message: message, recipients: recipients, at: now)))
    }
}
