import Messaging
import Testing

@Suite struct `Patching participants` {
    let conversation = Conversation.sample(
        [.ana, .bo], isDistinct: true, lastPosition: Position(7))

    @Test func `R5: adding and removing in one request changes nothing`() throws {
        #expect(try events(.addParticipant(.cy), .removeParticipant(.cy)) == [])
    }

    @Test func `R11: adding a participant again or removing an absent user changes nothing`() throws
    {
        #expect(try events(.addParticipant(.ana), .removeParticipant(.cy)) == [])
    }

    @Test func `setting no participants and adding each replaces all`() throws {
        #expect(
            try events(.setParticipants([]), .addParticipant(.cy), .addParticipant(.ana))
                == [
                    .participantsChanged(
                        ParticipantsChanged(
                            conversation: conversation.id, participants: Participants([.cy, .ana]),
                            added: [.cy], removed: [.bo], after: Position(7), at: now))
                ])
    }

    @Test func `the same set in another order changes nothing`() throws {
        #expect(try events(.setParticipants([.bo, .ana, .bo])) == [])
    }

    @Test func `all participants may be removed`() throws {
        #expect(try events(.setParticipants([])).count == 1)
    }

    @Test func `R19: 25 participants after the patch are accepted, 26 are not`() throws {
        let more = (1...23).map { number in
            ConversationPatch.addParticipant(.named("user\(number)"))
        }
        #expect(try conversation.patching(more, MessagingLimits(), at: now).count == 1)
        let count = Rejection.Detail(amount: 26, limit: 25)
        #expect(
            throws: Rejection.invalid("participants", .participantCountAfterPatch, count)
        ) {
            try conversation.patching(more + [.addParticipant(.cy)], MessagingLimits(), at: now)
        }
    }

    @Test func `ruling 35: above a lowered limit participants can leave, and none can join`() throws
    {
        var limits = MessagingLimits()
        limits.participants = 1
        func events(_ patches: ConversationPatch...) throws -> [Event] {
            try Conversation.sample([.ana, .bo, .cy]).patching(patches, limits, at: now)
        }
        #expect(try events(.removeParticipant(.bo)).count == 1)
        #expect(try events(.setParticipants([.cy, .ana])).count == 1)
        #expect(try events(.setMetadata(path: ["a"], "b")).count == 1)
        #expect(try events(.setParticipants([.named("dee")])).count == 1)
        for (patch, count) in [
            (ConversationPatch.addParticipant(.named("dee")), 3),
            (.setParticipants([.ana, .named("dee")]), 2),
        ] {
            let detail = Rejection.Detail(amount: count, limit: 1)
            #expect(
                throws: Rejection.invalid("participants", .participantCountAfterPatch, detail)
            ) {
                try events(.removeParticipant(.bo), patch)
            }
        }
    }

    @Test func `a set of many users keeps its order without duplicates`() {
        let users = (0..<100).map { number in UserID.named("u\(number)") }
        var participants = Participants(users + users.reversed())
        #expect(participants.users == users)
        for user in users.dropFirst(3) { participants.remove(user) }
        participants.remove(.ana)
        participants.add(users[1])
        #expect(participants == Participants(users.prefix(3)))
        #expect(!participants.contains(users[3]))
        #expect(participants.isSameSet(as: Participants(users.prefix(3).reversed())))
    }

    @Test func `R18: a deleted conversation cannot be patched`() {
        var deleted = conversation
        deleted.deletedAt = now
        #expect(throws: Rejection.objectDeleted) {
            try deleted.patching([], MessagingLimits(), at: now)
        }
    }

    private let now = Timestamp(milliseconds: 1000)

    private func events(_ patches: ConversationPatch...) throws -> [Event] {
        try conversation.patching(patches, MessagingLimits(), at: now)
    }
}
