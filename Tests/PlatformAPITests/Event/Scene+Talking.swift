import JSON
import Messaging
import MessagingStore

extension Scene {
    /// How far the log of the application goes.
    func end() async throws -> Int64 {
        try await world.store.logExtent(in: application).end.number
    }

    /// A new conversation of two.
    func conversation() async throws -> Conversation.ID {
        try await world.store.createConversation(
            Conversation.Draft(participants: [UserID("ana"), UserID("bo")].compactMap(\.self)),
            in: application
        ).object.conversation.id
    }

    /// Sends messages one after the other.
    ///
    /// - Parameter parts: How many parts each has, of 2000 bytes if there is more than one.
    func say(_ count: Int, in conversation: Conversation.ID, parts: Int = 1) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: parts > 1 ? 2000 : 2)
        for _ in 0..<count {
            _ = try await world.store.sendMessage(
                Message.Draft(
                    sender: .named("Billing"),
                    parts: try (0..<parts).map { _ in
                        try MessagePart.Draft(mimeType: "text/plain", body: .inline(body))
                    }),
                to: conversation, in: application)
        }
    }
}
