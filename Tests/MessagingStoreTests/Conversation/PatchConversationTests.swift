import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Patching conversations` {
    @Test func `R47: concurrent writes to different keys are all kept`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    try await sample.patch(
                        conversation, .setMetadata(path: ["key\(number)"], .text("\(number)")))
                }
            }
            try await group.waitForAll()
        }
        let metadata = try await sample.read(conversation).conversation.metadata.view
        #expect((0..<20).allSatisfy { number in metadata["key\(number)"] == .text("\(number)") })
    }

    @Test func `R47: of concurrent writes to one key the last commit wins`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    try await sample.patch(
                        conversation, .setMetadata(path: ["a"], .text("\(number)")))
                }
            }
            try await group.waitForAll()
        }
        guard case .metadataChanged(let last) = try await sample.events().last?.event else {
            Issue.record("the last event changed no metadata")
            return
        }
        #expect(try await sample.read(conversation).conversation.metadata.view == last.writes.view)
    }

    @Test func `R48: one request makes at most one event of each kind`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let kinds = try await sample.kinds {
            try await sample.patch(
                conversation, .addParticipant(.cy), .setMetadata(path: ["a"], "b"),
                .removeParticipant(.bo), .setMetadata(path: ["c"], "d"))
        }
        #expect(kinds == ["conversation.updated.participants", "conversation.updated.metadata"])
    }

    @Test func `R48: a patch without effect records no event`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation(metadata: ["a": "b"])
        let before = try await sample.rows()
        try await sample.patch(
            conversation, .setMetadata(path: ["a"], "b"), .deleteMetadata(path: ["x"]),
            .addParticipant(.ana), .removeParticipant(.cy))
        #expect(try await sample.rows() == before)
    }

    @Test func `R19, R48: a rejected patch changes nothing`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let before = try await sample.rows()
        let key = Rejection.Detail(path: "metadata", text: "ä")
        await #expect(throws: Rejection.invalid("metadata.ä", .metadataKey, key)) {
            try await sample.patch(
                conversation, .addParticipant(.cy), .setMetadata(path: ["a"], "b"),
                .setMetadata(path: ["ä"], "b"))
        }
        #expect(try await sample.rows() == before)
    }

    @Test func `X4: the version is incremented, and an old one is rejected`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let changed = try await sample.store.patchConversation(
            conversation, [.setMetadata(path: ["a"], "b")], if: .one, in: sample.application)
        #expect(changed.conversation.version == 2)
        try await sample.send(to: conversation)
        #expect(try await sample.read(conversation).conversation.version == 2)
        let late = await #expect(throws: VersionMismatch<ConversationSnapshot>.self) {
            try await sample.store.patchConversation(
                conversation, [.setMetadata(path: ["a"], "c")], if: .one, in: sample.application)
        }
        #expect(late?.current == (try await sample.read(conversation)))
        await #expect(throws: VersionMismatch<ConversationSnapshot>.self) {
            try await sample.store.deleteConversation(
                conversation, if: .one, in: sample.application)
        }
    }

    @Test func `participants keep their order`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.cy, .ana])
        let changed = try await sample.patch(
            conversation, .setParticipants([.bo, .ana]), .addParticipant(.cy))
        #expect(changed.participants.map(\.userID) == [.bo, .ana, .cy])
        #expect(try await sample.read(conversation) == changed)
    }

    @Test func `R18: deletion for all deletes everything, and can be repeated`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.store.deleteConversation(conversation, in: sample.application)
        let kinds = try await sample.kinds {
            try await sample.store.deleteConversation(conversation, in: sample.application)
        }
        #expect(kinds.isEmpty)
        await #expect(throws: Rejection.objectDeleted) { try await sample.read(conversation) }
        await #expect(throws: Rejection.objectDeleted) { try await sample.send(to: conversation) }
        await #expect(throws: Rejection.objectDeleted) { try await sample.patch(conversation) }
        await #expect(throws: Rejection.objectDeleted) {
            try await sample.store.requireWritable(conversation, in: sample.application)
        }
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.store.deleteConversation(.sample(1), in: sample.application)
        }
        let list = try await sample.store.conversations(of: .ana, limit: 10, in: sample.application)
        #expect(list.items.isEmpty && list.total == 0)
    }
}
