import Messaging
import Testing

@testable import MessagingStore

extension `Parts of a message` {
    @Test func `R23: a message holds 2 GiB at most, counted over all its parts`() async throws {
        let (shop, conversation, message) = try await scene(1)
        let half = try await shop.upload(
            1, size: MessagingLimits().messageBytes / 2, to: conversation
        ).id
        let rest = try await shop.upload(
            2, size: MessagingLimits().messageBytes / 2 - 1, to: conversation
        ).id
        func add(_ content: Content.ID) async throws {
            _ = try await shop.store.addPart(
                MessagePart.Draft(mimeType: "a/b", body: .content(content, size: 0)),
                to: message.id, by: .system(conversation), in: shop.application)
        }
        try await add(half)
        let double = Rejection.Detail(amount: 2_147_483_649, limit: 2_147_483_648)
        await #expect(throws: Rejection.invalid("parts", .partsSize, double)) {
            try await add(half)
        }
        try await add(rest)
        let more = Rejection.Detail(amount: 2_147_483_649, limit: 2_147_483_648)
        await #expect(throws: Rejection.invalid("parts", .partsSize, more)) {
            try await shop.store.changeParts(
                .replace(.index(0), .text("12")), of: message.id, by: .system(conversation),
                in: shop.application)
        }
    }

    @Test func `R24: a content goes with the last part that shows it`() async throws {
        let (shop, conversation, message) = try await scene(1)
        let picture = try await shop.upload(to: conversation).id
        let draft = try MessagePart.Draft(mimeType: "a/b", body: .content(picture, size: 0))
        for _ in 0..<3 {
            _ = try await shop.store.addPart(
                draft, to: message.id, by: .system(conversation), in: shop.application)
        }
        let other = try await shop.attach(picture, to: conversation).message.id
        let changes: [PartOperation] = try [
            .remove(.index(1)), .replace(.index(2), .text("x")),
            .replaceAll([.init(name: nil, draft: .text("y"))]),
        ]
        for change in changes {
            try await shop.store.changeParts(
                change, of: message.id, by: .system(conversation), in: shop.application)
            #expect(try await shop.store.signedContent(picture) != nil)
        }
        try await shop.store.changeParts(
            .replace(.index(0), .text("z")), of: other, by: .system(conversation),
            in: shop.application)
        #expect(try await shop.store.signedContent(picture) == nil)
    }

    @Test func `R24: a part that keeps its content keeps it alive`() async throws {
        let (shop, conversation, _) = try await scene(1)
        let picture = try await shop.upload(to: conversation).id
        let message = try await shop.attach(picture, to: conversation).message
        let draft = try MessagePart.Draft(mimeType: "c/d", body: .content(picture, size: 0))
        for change in [
            PartOperation.replace(.index(0), draft),
            .replaceAll([.init(name: nil, draft: draft)]),
        ] {
            try await shop.store.changeParts(
                change, of: message.id, by: .system(conversation), in: shop.application)
            #expect(try await shop.store.signedContent(picture) != nil)
        }
    }

    @Test func `rulings 18: a part binds a content that belongs to no conversation`() async throws {
        let (shop, conversation, message) = try await scene(1)
        let picture = try await shop.upload(to: nil).id
        _ = try await shop.store.addPart(
            MessagePart.Draft(mimeType: "a/b", body: .content(picture, size: 0)), to: message.id,
            by: .system(conversation), in: shop.application)
        let bound = try await shop.store.content(picture, in: conversation, in: shop.application)
        #expect(bound.conversation == conversation)
    }
}
