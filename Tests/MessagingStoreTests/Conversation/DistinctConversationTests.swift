import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Distinct conversations` {
    @Test func `R3: the same participants in any order find the existing one`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create([.ana, .bo], isDistinct: true)
        let again = try await sample.create([.bo, .ana, .bo], isDistinct: true)
        #expect(first == .created(first.object))
        #expect(again == .matched(first.object))
    }

    @Test func `R3: user ids are compared by their bytes`() async throws {
        let sample = try await SampleApplication()
        let composed = try await sample.create([.named("\u{E9}")], isDistinct: true)
        let decomposed = try await sample.create([.named("e\u{301}")], isDistinct: true)
        #expect(composed.object.conversation.id != decomposed.object.conversation.id)
        #expect(decomposed.object.participants.map(\.userID) == [.named("e\u{301}")])
    }

    @Test func `R4: any number of others may share the participants`() async throws {
        let sample = try await SampleApplication()
        try await sample.create(isDistinct: true)
        let ids = try await [sample.conversation(), sample.conversation()]
        #expect(Set(ids).count == 2)
    }

    @Test func `R5: a conversation whose participants change is never distinct again`() async throws
    {
        let sample = try await SampleApplication()
        let first = try await sample.create(isDistinct: true).object.conversation.id
        try await sample.patch(first, .addParticipant(.cy))
        let restored = try await sample.patch(first, .removeParticipant(.cy))
        #expect(!restored.conversation.isDistinct)
        let second = try await sample.create(isDistinct: true)
        #expect(second == .created(second.object))
    }

    @Test func `R5: a set changed and restored in one request stays distinct`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create(isDistinct: true).object
        let kinds = try await sample.kinds {
            try await sample.patch(
                first.conversation.id, .addParticipant(.cy), .removeParticipant(.cy))
        }
        #expect(kinds.isEmpty)
        #expect(try await sample.read(first.conversation.id) == first)
    }

    @Test func `R6: adding participants up to another's set merges nothing`() async throws {
        let sample = try await SampleApplication()
        let two = try await sample.create([.ana, .bo], isDistinct: true).object.conversation.id
        let three = try await sample.create([.ana, .bo, .cy], isDistinct: true).object
        try await sample.patch(two, .addParticipant(.cy))
        #expect(try await !sample.read(two).conversation.isDistinct)
        #expect(try await sample.read(three.conversation.id) == three)
        #expect(try await sample.create([.cy, .bo, .ana], isDistinct: true) == .matched(three))
    }

    @Test func `R7: other metadata is a conflict and changes nothing`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create(isDistinct: true, metadata: ["topic": "rent"]).object
        let before = try await sample.rows()
        let other = try await sample.create(isDistinct: true, metadata: ["topic": "food"])
        let empty = try await sample.create(isDistinct: true, metadata: .empty)
        #expect(other == .conflict(first))
        #expect(empty == .conflict(first))
        #expect(try await sample.rows() == before)
    }

    @Test func `R7: equal metadata, or none, is a match`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create(isDistinct: true, metadata: ["topic": "rent"]).object
        let equal = try await sample.create(isDistinct: true, metadata: ["topic": "rent"])
        #expect(equal == .matched(first))
        #expect(try await sample.create(isDistinct: true) == .matched(first))
    }

    @Test func `R8: of 50 simultaneous requests one creates it, 49 find it, with one event`()
        async throws
    {
        let sample = try await SampleApplication()
        let kinds = try await sample.kinds {
            let outcomes = try await withThrowingTaskGroup { group in
                for number in 0..<50 {
                    group.addTask {
                        try await sample.create(
                            number.isMultiple(of: 2) ? [.ana, .bo] : [.bo, .ana], isDistinct: true)
                    }
                }
                return try await group.reduce(into: []) { outcomes, one in outcomes.append(one) }
            }
            #expect(Set(outcomes.map(\.object.conversation.id)).count == 1)
            #expect(outcomes.filter { one in one == .created(one.object) }.count == 1)
            #expect(outcomes.filter { one in one == .matched(one.object) }.count == 49)
        }
        #expect(kinds == ["conversation.created"])
    }

    @Test func `R18: deleting for all frees the participants`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create(isDistinct: true).object.conversation.id
        try await sample.store.deleteConversation(first, in: sample.application)
        let second = try await sample.create(isDistinct: true)
        #expect(second == .created(second.object))
        #expect(second.object.conversation.id != first)
    }

    @Test func `X1.6: a proposed id that loses is an alias of the winner`() async throws {
        let sample = try await SampleApplication()
        let winner = try await sample.create(isDistinct: true).object
        let loser: Conversation.ID = .sample(5)
        let kinds = try await sample.kinds {
            let again = try await sample.create(isDistinct: true, id: loser)
            #expect(again == .matched(winner))
        }
        #expect(kinds == ["conversation.matched"])
        #expect(try await sample.read(loser) == winner)
        #expect(try await sample.create(id: loser) == .idInUse(winner))
        let sent = try await sample.send(to: loser).object
        #expect(sent.message.conversation == winner.conversation.id)
    }

    @Test func `X12: applications do not share distinct conversations`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.create(isDistinct: true).object.conversation.id
        let other = try await sample.store.createApplication(name: "Other").id
        let second = try await sample.store.createConversation(
            Conversation.Draft(participants: [.ana, .bo], isDistinct: true), in: other)
        #expect(second.object.conversation.id != first)
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.store.conversation(first, in: other)
        }
    }
}
