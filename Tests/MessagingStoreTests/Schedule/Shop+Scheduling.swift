import Messaging
import Testing

@testable import MessagingStore

extension Shop {
    /// Accepts a message that is due in so many seconds.
    @discardableResult
    func schedule(
        _ text: String = "later", by sender: Sender = .user(.ana), in seconds: Int64 = 5,
        typing: Int64? = nil, to conversation: Conversation.ID, id: Message.ID? = nil,
        admission: Message.Draft.Admission = .participants, key: Replay.Key? = nil
    ) async throws -> Acceptance {
        try await store.scheduleMessage(
            try draft(text, by: sender, id: id, admission: admission), to: conversation,
            for: Schedule(delay: seconds * 1000, typing: typing), key: key, in: application)
    }

    /// Accepts a message that attaches a content and is due in five seconds.
    func schedule(attaching content: Content.ID, to conversation: Conversation.ID) async throws {
        let draft = try Message.Draft(
            sender: .user(.ana), admission: .participants,
            parts: [MessagePart.Draft(mimeType: "image/png", body: .content(content, size: 5))])
        _ = try await store.scheduleMessage(
            draft, to: conversation, for: Schedule(delay: 5000, typing: nil), in: application)
    }

    func draft(
        _ text: String, by sender: Sender = .user(.ana), id: Message.ID? = nil,
        admission: Message.Draft.Admission = .participants
    ) throws -> Message.Draft {
        try Message.Draft(
            sender: sender, admission: admission,
            parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))],
            proposedID: id)
    }

    /// Lets seconds pass and sends what is due then.
    @discardableResult
    func send(after seconds: Int64) async throws -> Timestamp? {
        wait(milliseconds: seconds * 1000)
        return try await store.sendDueMessages { error, _ in Issue.record(error) }
    }

    @discardableResult
    func batch(
        _ sendings: [Message.Sending], to conversation: Conversation.ID, key: Replay.Key? = nil
    ) async throws -> Acceptance {
        try await store.sendBatch(sendings, to: conversation, key: key, in: application)
    }

    /// Messages that are sent later, or never, or still wait; and a batch.
    func procrastinate() async throws {
        let (kept, gone) = try await (conversation(), conversation())
        try await schedule("sent", typing: 2000, to: kept, key: .sample(31))
        try await schedule("dropped", to: gone)
        try await store.deleteConversation(gone, in: application)
        try await batch(
            [
                Message.Sending(draft("now")),
                Message.Sending(draft("then"), Schedule(delay: 5000)),
            ], to: kept, key: .sample(32))
        try await schedule("waiting", in: 300, to: kept)
        let (promised, used) = try await (upload(7, to: nil).id, upload(8, to: nil).id)
        try await schedule(attaching: promised, to: kept)
        try await schedule(attaching: used, to: kept)
        let message = try await attach(used, to: kept).message.id
        try await store.deleteMessage(message, in: nil, in: application)
        try await send(after: 5)
        try await schedule(attaching: used, to: kept)
        try await store.withdrawUnusedContents(
            completedBefore: store.environment.now(), limit: 100)
        let dropped = try await store.droppedContents(limit: 1)
        try await store.eraseContents(dropped.map(\.id), in: application)
    }

    /// Sends what is due; waits as it is told to.
    func sender(
        sleep: @escaping @Sendable (Int64) async -> Void
    ) -> ScheduledSender {
        ScheduledSender(store: store, sleep: sleep) { error, _ in Issue.record(error) }
    }
}
