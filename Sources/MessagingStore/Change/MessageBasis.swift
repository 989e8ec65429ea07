public import Messaging

/// What a message as somebody sees it was made of, and when that was read.
public struct MessageBasis: Sendable {
    /// Where the changes of its conversation, its sender and who looks are dated.
    let conversation, sender, viewer: Int
    let moment: UInt64

    init(
        _ message: Message, seenBy user: UserID?, readAfter moment: UInt64,
        in application: Application.ID
    ) {
        conversation = ChangeClock.slot(of: .messages(message.conversation, application))
        // Who is nobody changes with the conversation.
        let slot = { [conversation] (user: UserID?) in
            user.map { user in ChangeClock.slot(of: .user(user, application)) } ?? conversation
        }
        sender = slot(message.sender.userID)
        viewer = slot(user)
        self.moment = moment
    }
}

extension MessagingStore {
    /// One message as the system sees it, or as a user does, with what tells how long that is true.
    ///
    /// - Parameters:
    ///   - user: `nil` for the system.
    ///   - conversation: The one it must belong to; `nil` for any, and for a user.
    /// - Throws: As the readings without a basis.
    public func messageWithBasis(
        _ id: Message.ID, seenBy user: UserID?, in conversation: Conversation.ID?,
        in application: Application.ID
    ) async throws -> (message: MessageSnapshot, basis: MessageBasis) {
        // Before the look: what is committed in between may or may not be in it.
        let moment = clock.moment
        let found =
            if let user {
                try await message(id, seenBy: user, in: application)
            } else {
                try await message(id, in: conversation, in: application)
            }
        return (
            found,
            MessageBasis(found.message, seenBy: user, readAfter: moment, in: application)
        )
    }

    /// Whether what was read is still what the database holds; never waits.
    public func holds(_ basis: MessageBasis) -> Bool { clock.isUnchanged(basis) }
}
