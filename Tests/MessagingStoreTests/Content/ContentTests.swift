import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Uploaded content` {
    @Test func `R24: finishing twice makes one content and one event`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let kinds = try await shop.kinds {
            let content = try await shop.upload(to: conversation)
            try await shop.upload(to: conversation)
            #expect(
                try await shop.store.content(content.id, in: nil, in: shop.application) == content)
        }
        #expect(kinds == ["content.uploaded"])
    }

    @Test func `extensions: the stored size wins over the claimed one`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(size: 5, to: conversation)
        let sent = try await shop.attach(content.id, to: conversation, claiming: 99)
        #expect(sent.message.parts.first?.body == .content(content.id, size: 5))
        let read = try await shop.store.message(sent.message.id, in: nil, in: shop.application)
        #expect(read == sent)
    }

    @Test func `one that no message shows can be withdrawn, once`() async throws {
        let shop = try await Shop()
        let content = try await shop.upload(to: try await shop.conversation())
        let kinds = try await shop.kinds {
            for _ in 1...2 {
                let isGone = try await shop.store.withdrawContent(content.id)
                #expect(isGone)
            }
        }
        #expect(kinds == ["content.withdrawn"])
        #expect(try await shop.store.signedContent(content.id) == nil)
    }

    @Test func `one that a message shows stays`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation)
        try await shop.attach(content.id, to: conversation)
        let kinds = try await shop.kinds {
            let isGone = try await shop.store.withdrawContent(content.id)
            #expect(!isGone)
        }
        #expect(kinds.isEmpty)
        #expect(try await shop.store.signedContent(content.id) == content)
    }

    @Test func `R18: one that arrives after its conversation was deleted is refused`() async throws
    {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.store.deleteConversation(conversation, in: shop.application)
        let kinds = try await shop.kinds {
            await #expect(throws: Rejection.objectDeleted) {
                try await shop.upload(to: conversation)
            }
        }
        #expect(kinds.isEmpty)
    }

    @Test func `R24: another conversation may not attach it`() async throws {
        let shop = try await Shop()
        let (here, there) = try await (shop.conversation(), shop.conversation())
        let content = try await shop.upload(to: here)
        await #expect(throws: Rejection.invalid("parts.content")) {
            try await shop.attach(content.id, to: there)
        }
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.store.content(content.id, in: there, in: shop.application)
        }
    }

    @Test func `rulings 18: an unbound one belongs to who attaches it first`() async throws {
        let shop = try await Shop()
        let (here, there) = try await (shop.conversation(), shop.conversation())
        let content = try await shop.upload(to: nil)
        try await shop.attach(content.id, to: here)
        let bound = try await shop.store.content(content.id, in: here, in: shop.application)
        #expect(bound.conversation == here)
        await #expect(throws: Rejection.invalid("parts.content")) {
            try await shop.attach(content.id, to: there)
        }
    }

    @Test func `R24: it goes with the last message that attaches it`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation)
        let first = try await shop.attach(content.id, to: conversation).message.id
        let second = try await shop.attach(content.id, to: conversation).message.id
        try await shop.store.deleteMessage(first, in: nil, in: shop.application)
        #expect(try await shop.store.signedContent(content.id) == content)
        try await shop.store.deleteMessage(second, in: nil, in: shop.application)
        #expect(try await shop.store.signedContent(content.id) == nil)
    }

    @Test func `R18: it goes with its conversation`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation)
        try await shop.store.deleteConversation(conversation, in: shop.application)
        #expect(try await shop.store.signedContent(content.id) == nil)
    }
}

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
