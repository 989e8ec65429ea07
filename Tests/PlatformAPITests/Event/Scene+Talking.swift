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

    /// Somebody is told of it for a while: everything that becomes of a webhook.
    func listen() async throws {
        let (store, draft) = (
            world.store,
            try Webhook.Draft(
                payloadVersion: .v3_0, target: "https://hooks.example.org/in",
                topics: [.messageSent], secret: "s3cret", config: nil)
        )
        let webhook = try await store.createWebhook(draft, in: application)
        try await store.finishVerification(of: webhook, failure: nil, in: application)
        _ = try await store.rotateSecret(to: "n3w", keeping: 0, of: webhook.id, in: application)
        _ = try await store.deactivateWebhook(webhook.id, in: application)
        try await store.deleteWebhook(webhook.id, in: application)
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
