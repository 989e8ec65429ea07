import Messaging
import TestSupport
import Testing

@Suite struct `Creating conversations` {
    @Test func `R1: exactly the named users, once each, in the order of naming`() throws {
        let draft = try Conversation.Draft(participants: [.bo, .ana, .bo])
        #expect(draft.participants.users == [.bo, .ana])
    }

    @Test func `R2: a conversation is distinct only on request`() throws {
        #expect(try !Conversation.Draft(participants: [.ana]).isDistinct)
    }

    @Test func `R19: 0 and 26 participants are rejected`() {
        let none = Rejection.Detail(amount: 0, limit: 25)
        #expect(throws: Rejection.invalid("participants", .participantCount, none)) {
            try Conversation.Draft(participants: [])
        }
        let many = Rejection.Detail(amount: 26, limit: 25)
        #expect(throws: Rejection.invalid("participants", .participantCount, many)) {
            try Conversation.Draft(participants: (1...26).map { number in .named("u\(number)") })
        }
    }

    @Test func `R40: metadata is an object`() {
        #expect(throws: Rejection.invalid("metadata", .metadataObject)) {
            try Conversation.Draft(participants: [.ana], metadata: "text")
        }
    }

    @Test func `R7: a request without metadata matches any`() throws {
        #expect(
            Conversation.sample(metadata: ["a": "b"])
                .isMatch(for: try Conversation.Draft(participants: [.ana])))
    }

    @Test func `R7: metadata matches when deeply equal, whatever the order of keys`() throws {
        let stored = Conversation.sample(metadata: ["a": ["x": "1", "y": "2"], "b": "3"])
        #expect(
            stored.isMatch(
                for: try Conversation.Draft(
                    participants: [.ana], metadata: ["b": "3", "a": ["y": "2", "x": "1"]])))
        #expect(
            !stored.isMatch(
                for: try Conversation.Draft(participants: [.ana], metadata: ["b": "3"])))
    }

    @Test func `R7: an empty object matches only no metadata`() throws {
        let draft = try Conversation.Draft(participants: [.ana], metadata: .empty)
        #expect(Conversation.sample().isMatch(for: draft))
        #expect(!Conversation.sample(metadata: ["a": "b"]).isMatch(for: draft))
    }

    @Test func `R7: canonically equivalent texts differ`() throws {
        let draft = try Conversation.Draft(participants: [.ana], metadata: ["a": "e\u{301}"])
        #expect(!Conversation.sample(metadata: ["a": "\u{E9}"]).isMatch(for: draft))
    }

    @Test func `R52: a conversation created by the system is announced`() throws {
        let events = Conversation.creating(
            try Conversation.Draft(participants: [.ana]), as: .sample(1),
            at: Timestamp(milliseconds: 5))
        #expect(
            events == [
                .conversationCreated(
                    ConversationCreated(
                        conversation: Conversation(
                            id: .sample(1), createdAt: Timestamp(milliseconds: 5),
                            participants: Participants([.ana]), isDistinct: false,
                            metadata: Metadata(), isAnnounced: true)))
            ])
    }

    @Test func `R51: only the creating user sees a new conversation`() throws {
        let events = Conversation.creating(
            try Conversation.Draft(participants: [.ana, .bo]), by: .ana, as: .sample(1),
            at: Timestamp(milliseconds: 5))
        #expect(
            events == [
                .conversationCreated(
                    ConversationCreated(
                        conversation: Conversation(
                            id: .sample(1), createdAt: Timestamp(milliseconds: 5),
                            participants: Participants([.ana, .bo]), isDistinct: false,
                            metadata: Metadata(), isAnnounced: false))),
                .conversationShown(
                    ConversationShown(
                        conversation: .sample(1), users: [.ana], at: Timestamp(milliseconds: 5))),
            ])
    }
}

@Suite struct `Distinct keys` {
    @Test(arguments: 0..<500) func `R3: the same users in any order and number have the same key`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let users = random.users()
        let again = (users + users).shuffled(using: &random)
        #expect(key(of: users) == key(of: again))
    }

    @Test(arguments: 0..<500) func `R3: other users have another key`(case number: UInt64) {
        var random = SeededGenerator(number)
        let (left, right) = (random.users(), random.users())
        #expect((key(of: left) == key(of: right)) == (Set(left) == Set(right)))
    }

    @Test func `names with the same concatenation have different keys`() {
        #expect(key(of: [.named("ab"), .named("c")]) != key(of: [.named("a"), .named("bc")]))
    }

    private func key(of users: [UserID]) -> DistinctKey {
        DistinctKey(Participants(users), hash: { bytes in bytes })
    }
}
