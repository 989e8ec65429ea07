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
        await #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
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
        await #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
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

@Suite struct `The bytes of an application` {
    @Test func `are those of its contents, until these are dropped`() async throws {
        let shop = try await Shop()
        let (here, there) = try await (shop.conversation(), shop.conversation())
        try await shop.upload(1, size: 100, to: here)
        let shown = try await shop.upload(2, size: 20, to: there).id
        let unused = try await shop.upload(3, size: 3, to: nil).id
        let message = try await shop.attach(shown, to: there).message.id
        #expect(try await shop.bytes() == 123)
        _ = try await shop.store.withdrawContent(unused)
        #expect(try await shop.bytes() == 120)
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        #expect(try await shop.bytes() == 100)
        try await shop.store.deleteConversation(here, in: shop.application)
        #expect(try await shop.bytes() == 0)
        #expect(try await shop.store.contentBytes(in: .sample(99)) == 0)
    }
}

@Suite struct `The quota of an application` {
    @Test func `goes to one of two contents that are finished at the same time`() async throws {
        let shop = try await Shop()
        let finished = try await withThrowingTaskGroup { group in
            for number in 1...2 as ClosedRange<UInt128> {
                group.addTask {
                    try await shop.store.finishUpload(
                        shop.content(number, size: 6, in: nil), within: 10, in: shop.application)
                }
            }
            return try await group.reduce(into: []) { all, isFinished in all.append(isFinished) }
        }
        #expect(finished.count { $0 } == 1)
        #expect(try await shop.bytes() == 6)
    }

    @Test func `is full with its last byte, and counts no content twice`() async throws {
        let shop = try await Shop()
        let store = shop.store
        let (first, second) = (
            shop.content(1, size: 6, in: nil), shop.content(2, size: 4, in: nil)
        )
        for content in [first, second, first, second] {
            #expect(try await store.finishUpload(content, within: 10, in: shop.application))
        }
        let more = shop.content(3, size: 1, in: nil)
        #expect(try await !store.finishUpload(more, within: 10, in: shop.application))
        #expect(try await store.signedContent(more.id) == nil)
        #expect(try await store.finishUpload(more, within: nil, in: shop.application))
    }
}

extension Shop {
    fileprivate func bytes() async throws -> Int64 { try await store.contentBytes(in: application) }
}
