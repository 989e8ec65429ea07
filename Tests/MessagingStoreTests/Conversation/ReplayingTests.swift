import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Replaying creations` {
    let key: Replay.Key = .sample(42)

    @Test func `1.9: the key becomes the id, and a repeat returns the object`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create(key: key)
        #expect(first.object.conversation.id == Conversation.ID(key))
        let changed = try await sample.patch(
            first.object.conversation.id, .setMetadata(path: ["a"], "b"))
        #expect(try await sample.create([.cy], key: key) == .replayed(changed))
    }

    @Test func `1.9: a body id names the object, the key only replays it`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create(id: .sample(7), key: key).object
        #expect(first.conversation.id == .sample(7))
        #expect(try await sample.create(key: key) == .replayed(first))
        #expect(try await sample.create(id: .sample(7), key: key) == .replayed(first))
        #expect(try await sample.create(id: .sample(7)) == .idInUse(first))
    }

    @Test func `1.9: a key that is the id of an existing conversation returns it`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create().object
        #expect(
            try await sample.create(key: Replay.Key(first.conversation.id)) == .replayed(first))
    }

    @Test func `1.9: a distinct match is stored under the key`() async throws {
        let sample = try await SampleApplication()
        let match = try await sample.create(isDistinct: true).object
        #expect(try await sample.create(isDistinct: true, key: key) == .matched(match))
        #expect(try await sample.create([.cy], key: key) == .matched(match))
    }

    @Test func `ruling 12: a key of a conflict stays unused`() async throws {
        let sample = try await SampleApplication()
        try await sample.create(isDistinct: true)
        let conflict = try await sample.create(isDistinct: true, metadata: ["a": "b"], key: key)
        #expect(conflict == .conflict(conflict.object))
        #expect(try await sample.create([.cy], key: key).object.participants.map(\.userID) == [.cy])
    }

    @Test func `1.9: a key of a deleted conversation is rejected as deleted`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.create(key: key).object.conversation.id
        try await sample.store.deleteConversation(id, in: sample.application)
        await #expect(throws: Rejection.objectDeleted) { try await sample.create(key: key) }
    }

    @Test func `R111: 20 requests with one key send one message`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let kinds = try await sample.kinds {
            let ids = try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await sample.send(to: conversation, key: key).object.message.id
                    }
                }
                return try await group.reduce(into: Set()) { ids, id in ids.insert(id) }
            }
            #expect(ids == [Message.ID(key)])
        }
        #expect(kinds == ["message.sent"])
        #expect(try await sample.texts(of: conversation) == ["hello"])
    }

    @Test func `R111: a key is valid after a restart`() async throws {
        let folder = TemporaryFolder()
        let first = try await SampleApplication(at: folder.database)
        let conversation = try await first.conversation()
        let sent = try await first.send(to: conversation, key: key).object
        first.database.close()
        let second = try await SampleApplication(at: folder.database, opening: first.application)
        #expect(try await second.send("again", to: conversation, key: key) == .replayed(sent))
        #expect(try await second.texts(of: conversation) == ["hello"])
        #expect(try await second.send("next", to: conversation).object.message.position.number == 2)
    }

    @Test func `1.9: keys of conversations and messages are separate`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.create(key: key).object.conversation.id
        let sent = try await sample.send(to: conversation, key: key)
        #expect(sent == .created(sent.object))
    }

    @Test func `ruling 12: a key of a deleted message finds nothing`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let id = try await sample.send(to: conversation, key: key).object.message.id
        try await sample.store.deleteMessage(id, in: nil, in: sample.application)
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.send(to: conversation, key: key)
        }
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.send(to: conversation, id: id)
        }
    }

    @Test func `ruling 12: a key of a message deleted with its conversation finds nothing`()
        async throws
    {
        let sample = try await SampleApplication()
        let (gone, other) = try await (sample.conversation(), sample.conversation())
        try await sample.send(to: gone, key: key)
        try await sample.store.deleteConversation(gone, in: sample.application)
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.send(to: other, key: key)
        }
    }

    @Test func `1.9: an id in use returns its conversation`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let first = try await sample.send(to: conversation, id: .sample(9)).object
        #expect(try await sample.send("other", to: conversation, id: .sample(9)) == .idInUse(first))
    }
}
