import Messaging
import Testing

@testable import MessagingStore

extension `Parts of a message` {
    @Test func `R23: a message holds 2 GiB at most, counted over all its parts`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        let half = try await sample.upload(
            1, size: MessagingLimits().messageBytes / 2, to: conversation
        ).id
        let rest = try await sample.upload(
            2, size: MessagingLimits().messageBytes / 2 - 1, to: conversation
        ).id
        func add(_ content: Content.ID) async throws {
            _ = try await sample.store.addPart(
                MessagePart.Draft(mimeType: "a/b", body: .content(content, size: 0)),
                to: message.id, in: conversation, by: .system, in: sample.application)
        }
        try await add(half)
        let double = Rejection.Detail(amount: 2_147_483_649, limit: 2_147_483_648)
        await #expect(throws: Rejection.invalid("parts", .partsSize, double)) {
            try await add(half)
        }
        try await add(rest)
        let more = Rejection.Detail(amount: 2_147_483_649, limit: 2_147_483_648)
        await #expect(throws: Rejection.invalid("parts", .partsSize, more)) {
            try await sample.store.changeParts(
                .replace(.index(0), .text("12")), of: message.id, in: conversation, by: .system,
                in: sample.application)
        }
    }

    @Test func `R24: a content is dropped with the last part that shows it`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        let picture = try await sample.upload(to: conversation).id
        let draft = try MessagePart.Draft(mimeType: "a/b", body: .content(picture, size: 0))
        for _ in 0..<3 {
            _ = try await sample.store.addPart(
                draft, to: message.id, in: conversation, by: .system, in: sample.application)
        }
        let other = try await sample.attach(picture, to: conversation).message.id
        let changes: [PartOperation] = try [
            .remove(.index(1)), .replace(.index(2), .text("x")),
            .replaceAll([.init(name: nil, draft: .text("y"))]),
        ]
        for change in changes {
            try await sample.store.changeParts(
                change, of: message.id, in: conversation, by: .system, in: sample.application)
            #expect(try await sample.store.signedContent(picture) != nil)
        }
        try await sample.store.changeParts(
            .replace(.index(0), .text("z")), of: other, in: conversation, by: .system,
            in: sample.application)
        #expect(try await sample.store.signedContent(picture) == nil)
    }

    @Test func `R24: a part that still uses its content keeps it`() async throws {
        let (sample, conversation, _) = try await makeMessage(1)
        let picture = try await sample.upload(to: conversation).id
        let message = try await sample.attach(picture, to: conversation).message
        let draft = try MessagePart.Draft(mimeType: "c/d", body: .content(picture, size: 0))
        for change in [
            PartOperation.replace(.index(0), draft),
            .replaceAll([.init(name: nil, draft: draft)]),
        ] {
            try await sample.store.changeParts(
                change, of: message.id, in: conversation, by: .system, in: sample.application)
            #expect(try await sample.store.signedContent(picture) != nil)
        }
    }

    @Test func `ruling 18: a part binds a content that belongs to no conversation`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        let picture = try await sample.upload(to: nil).id
        _ = try await sample.store.addPart(
            MessagePart.Draft(mimeType: "a/b", body: .content(picture, size: 0)), to: message.id,
            in: conversation, by: .system, in: sample.application)
        let bound = try await sample.store.content(
            picture, in: conversation, in: sample.application)
        #expect(bound.conversation == conversation)
    }
}
