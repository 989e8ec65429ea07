import Messaging

@testable import MessagingStore

// Shorthands for actions of users.
extension SampleApplication {
    @discardableResult
    func create(
        _ others: [UserID], by user: UserID, isDistinct: Bool = false, metadata: MetadataTree? = nil
    ) async throws -> CreationOutcome<ConversationView> {
        try await store.createConversation(
            Conversation.Draft(
                participants: [user] + others, isDistinct: isDistinct, metadata: metadata),
            by: user, in: application)
    }

    /// Creates users without conversations.
    func createUsers(_ users: UserID...) async throws {
        for user in users {
            try await store.replaceIdentity(Identity(userID: user), in: application)
        }
    }

    func view(
        of conversation: Conversation.ID, for user: UserID
    ) async throws -> ConversationView {
        try await store.conversation(conversation, seenBy: user, in: application)
    }

    /// Whether a conversation is in a user's view; all reads must agree.
    func sees(_ conversation: Conversation.ID, _ user: UserID) async throws -> Bool {
        let page = try await store.conversations(of: user, limit: 100, in: application)
        let isListed = page.items.contains { view in view.id == conversation }
        do {
            _ = try await view(of: conversation, for: user)
            return isListed && page.total == Int64(page.items.count)
        } catch Rejection.notFound(.conversation) {
            guard !isListed else {
                throw StoreFault.unreadable("the list and the conversation differ")
            }
            return false
        }
    }

    /// The texts a user sees, newest first.
    func texts(of conversation: Conversation.ID, for user: UserID) async throws -> [String] {
        try await store.messages(in: conversation, seenBy: .user(user), limit: 100, in: application)
            .items.map(\.text)
    }

    func post(
        _ text: String = "hello", as user: UserID, in conversation: Conversation.ID
    ) async throws -> Message.ID {
        let part = try MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))
        return try await store.sendMessage(
            Message.Draft(sender: .user(user), parts: [part]), to: conversation, by: .user(user),
            in: application
        ).object.message.id
    }

    func delete(
        _ conversation: Conversation.ID, _ deletion: Conversation.Deletion, by user: UserID
    ) async throws {
        try await store.deleteConversation(conversation, deletion, by: user, in: application)
    }

    func block(_ other: UserID, by user: UserID) async throws {
        try await store.patchUser(user, [.block(other)], in: application)
    }
}
