import Messaging

@testable import MessagingStore

// Two distinct conversations of one set side by side, as no request ever makes them.
extension MessagingStore {
    /// Creates a conversation beside the one its participants may have.
    func placeBeside(_ conversation: Conversation, in application: Application.ID) async throws {
        try await change(in: application) { recording in
            try recording.record(
                .conversationCreated(ConversationCreated(conversation: conversation)))
        }
    }

    /// Merges them.
    @discardableResult
    func settle(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { recording in try recording.settle(id).winner }
    }
}
