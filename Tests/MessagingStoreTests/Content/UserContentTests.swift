import Messaging
import Testing

@testable import MessagingStore

@Suite struct `The content of a user` {
    @Test func `R86: its uploader reads it, before any message shows it`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana, .bo])
        let content = try await shop.upload(to: nil, by: .ana)
        #expect(try await shop.content(content.id, for: .ana) == content)
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.content(content.id, for: .bo)
        }
    }

    @Test func `R86: so does who sees a message that attaches it, while he does`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation([.ana, .bo])
        try await shop.conversation([.cy])
        let content = try await shop.upload(to: nil, by: .ana).id
        let message = try await shop.attach(content, to: conversation).message.id
        // The first message binds it (rulings 18).
        #expect(try await shop.content(content, for: .bo).conversation == conversation)
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.content(content, for: .cy)
        }
        try await shop.patch(conversation, .addParticipant(.cy))
        #expect(try await shop.content(content, for: .cy).id == content)
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.content(content, for: .bo)
        }
    }

    @Test func `R86: nobody reads what came into a conversation after he left`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation([.ana, .bo])
        try await shop.patch(conversation, .removeParticipant(.bo))
        let content = try await shop.upload(to: conversation).id
        try await shop.attach(content, to: conversation)
        #expect(try await shop.content(content, for: .ana).id == content)
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.content(content, for: .bo)
        }
    }

    @Test func `rulings 19: users nobody has named read and upload nothing`() async throws {
        let shop = try await Shop()
        let content = try await shop.upload(to: try await shop.conversation()).id
        await #expect(throws: Rejection.notFound(.user)) {
            try await shop.content(content, for: .named("nobody"))
        }
        await #expect(throws: Rejection.notFound(.user)) {
            try await shop.store.requireUser(.named("nobody"), in: shop.application)
        }
    }
}

extension Shop {
    fileprivate func content(_ id: Content.ID, for user: UserID) async throws -> Content {
        try await store.content(id, seenBy: user, in: application)
    }
}
