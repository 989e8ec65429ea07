import Messaging

@testable import MessagingStore

extension Shop {
    /// A distinct conversation as an import brings it; it stands beside the one its users have.
    @discardableResult
    func bring(
        _ number: UInt128, _ users: [UserID] = [.ana, .bo], createdAt moment: Int64,
        metadata: Metadata = Metadata(), isAnnounced: Bool = true
    ) async throws -> Conversation.ID {
        let id: Conversation.ID = .sample(number)
        let holder = try await store.bringConversation(
            Conversation(
                id: id, createdAt: Timestamp(milliseconds: moment),
                participants: Participants(users), isDistinct: true, metadata: metadata,
                isAnnounced: isAnnounced), in: application)
        return holder ?? id
    }

    @discardableResult
    func settle(_ id: Conversation.ID) async throws -> Conversation.ID {
        try await store.settleConversation(id, in: application)
    }

    /// What a user sees of a conversation.
    func seen(_ id: Conversation.ID, by user: UserID) async throws -> [MessageSnapshot] {
        try await store.messages(in: id, seenBy: user, limit: 1000, in: application).items
    }
}
