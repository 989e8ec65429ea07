import Messaging

@testable import MessagingStore

extension Shop {
    /// A distinct conversation beside the one its users may have.
    @discardableResult
    func bring(
        _ number: UInt128, _ users: [UserID] = [.ana, .bo], createdAt moment: Int64,
        metadata: Metadata = Metadata(), isAnnounced: Bool = true
    ) async throws -> Conversation.ID {
        let id: Conversation.ID = .sample(number)
        let conversation = Conversation(
            id: id, createdAt: Timestamp(milliseconds: moment),
            participants: Participants(users), isDistinct: true, metadata: metadata,
            isAnnounced: isAnnounced)
        return try await store.change(in: application) { recording in
            if let holder = try recording.holder(of: id) { return holder.id }
            try recording.record(
                .conversationCreated(ConversationCreated(conversation: conversation)))
            return id
        }
    }

    @discardableResult
    func settle(_ id: Conversation.ID) async throws -> Conversation.ID {
        try await store.change(in: application) { recording in try recording.settle(id).winner }
    }

    /// What a user sees of a conversation.
    func seen(_ id: Conversation.ID, by user: UserID) async throws -> [MessageSnapshot] {
        try await store.messages(in: id, seenBy: user, limit: 1000, in: application).items
    }
}
