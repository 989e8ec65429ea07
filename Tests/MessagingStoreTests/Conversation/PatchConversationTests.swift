import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Patching conversations` {
    @Test func `R47: parallel writes to different keys all stay`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    try await shop.patch(
                        conversation, .setMetadata(path: ["key\(number)"], .text("\(number)")))
                }
            }
            try await group.waitForAll()
        }
        let metadata = try await shop.read(conversation).conversation.metadata.view
        #expect((0..<20).allSatisfy { number in metadata["key\(number)"] == .text("\(number)") })
    }

    @Test func `R47: of parallel writes to one key the last commit stays`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    try await shop.patch(
                        conversation, .setMetadata(path: ["a"], .text("\(number)")))
                }
            }
            try await group.waitForAll()
        }
        guard case .metadataChanged(let last) = try await shop.events().last?.event else {
            Issue.record("the last event changed no metadata")
            return
        }
        #expect(try await shop.read(conversation).conversation.metadata.view == last.writes.view)
    }

    @Test func `R48: one request makes at most one event of each kind`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let kinds = try await shop.kinds {
            try await shop.patch(
                conversation, .addParticipant(.cy), .setMetadata(path: ["a"], "b"),
                .removeParticipant(.bo), .setMetadata(path: ["c"], "d"))
        }
        #expect(kinds == ["participants.changed", "metadata.changed"])
    }

    @Test func `R48: nothing changed, nothing told`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation(metadata: ["a": "b"])
        let before = try await shop.rows()
        try await shop.patch(
            conversation, .setMetadata(path: ["a"], "b"), .deleteMetadata(path: ["x"]),
            .addParticipant(.ana), .removeParticipant(.cy))
        #expect(try await shop.rows() == before)
    }

    @Test func `R19, R48: a refused patch leaves no trace`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let before = try await shop.rows()
        let key = Rejection.Detail(path: "metadata", text: "ä")
        await #expect(throws: Rejection.invalid("metadata.ä", .metadataKey, key)) {
            try await shop.patch(
                conversation, .addParticipant(.cy), .setMetadata(path: ["a"], "b"),
                .setMetadata(path: ["ä"], "b"))
        }
        #expect(try await shop.rows() == before)
    }

    @Test func `X4: the version rises, and an old one is refused`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let changed = try await shop.store.patchConversation(
            conversation, [.setMetadata(path: ["a"], "b")], if: .one, in: shop.application)
        #expect(changed.conversation.version == 2)
        try await shop.send(to: conversation)
        #expect(try await shop.read(conversation).conversation.version == 2)
        let late = await #expect(throws: VersionMismatch<ConversationSnapshot>.self) {
            try await shop.store.patchConversation(
                conversation, [.setMetadata(path: ["a"], "c")], if: .one, in: shop.application)
        }
        #expect(late?.current == (try await shop.read(conversation)))
        await #expect(throws: VersionMismatch<ConversationSnapshot>.self) {
            try await shop.store.deleteConversation(conversation, if: .one, in: shop.application)
        }
    }

    @Test func `participants keep the order of naming`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation([.cy, .ana])
        let changed = try await shop.patch(
            conversation, .setParticipants([.bo, .ana]), .addParticipant(.cy))
        #expect(changed.participants.map(\.userID) == [.bo, .ana, .cy])
        #expect(try await shop.read(conversation) == changed)
    }

    @Test func `R18: after deletion for all everything is gone, twice succeeds`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.store.deleteConversation(conversation, in: shop.application)
        let kinds = try await shop.kinds {
            try await shop.store.deleteConversation(conversation, in: shop.application)
        }
        #expect(kinds.isEmpty)
        await #expect(throws: Rejection.objectDeleted) { try await shop.read(conversation) }
        await #expect(throws: Rejection.objectDeleted) { try await shop.send(to: conversation) }
        await #expect(throws: Rejection.objectDeleted) { try await shop.patch(conversation) }
        await #expect(throws: Rejection.objectDeleted) {
            try await shop.store.requireWritable(conversation, in: shop.application)
        }
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await shop.store.deleteConversation(.sample(1), in: shop.application)
        }
        let list = try await shop.store.conversations(of: .ana, limit: 10, in: shop.application)
        #expect(list.items.isEmpty && list.total == 0)
    }
}
