import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Before the first message` {
    @Test func `only the creator sees a conversation (R51)`() async throws {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana, .bo)
        let made = try await sample.create([.bo], by: .ana).object
        #expect(made.participants.map(\.userID) == [.ana, .bo])
        #expect(try await sample.sees(made.id, .ana))
        #expect(try await !sample.sees(made.id, .bo))
        await #expect(throws: Rejection.notFound(.conversation)) {
            _ = try await sample.post(as: .bo, in: made.id)
        }
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.store.markAllRead(
                upTo: nil, by: .bo, in: made.id, in: sample.application)
        }
    }

    @Test func `the system sees the conversation like any other (R55)`() async throws {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana)
        let id = try await sample.create([.bo], by: .ana).object.id
        #expect(try await sample.read(id).participants.map(\.userID) == [.ana, .bo])
    }

    @Test(arguments: [true, false])
    func `the first message of any sender announces the conversation (R51)`(bySystem: Bool)
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana)
        let id = try await sample.create([.bo, .cy], by: .ana).object.id
        if bySystem {
            try await sample.send(by: .bo, to: id)
        } else {
            _ = try await sample.post(as: .ana, in: id)
        }
        for user in [UserID.ana, .bo, .cy] { #expect(try await sample.sees(id, user)) }
        #expect(try await sample.view(of: id, for: .cy).unreadCount == 1)
    }

    @Test func `a participant who requests the conversation sees it, others do not (R53)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana, .bo)
        let first = try await sample.create([.bo, .cy], by: .ana, isDistinct: true).object
        let kinds = try await sample.kinds {
            let second = try await sample.create([.ana, .cy], by: .bo, isDistinct: true)
            #expect(second == .matched(second.object))
            #expect(second.object.id == first.id)
        }
        #expect(kinds == ["conversation.shown"])
        #expect(try await sample.sees(first.id, .bo))
        #expect(try await !sample.sees(first.id, .cy))
    }

    @Test func `a request with other metadata is a conflict and announces nothing (R7)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana, .bo)
        let first = try await sample.create([.bo], by: .ana, isDistinct: true).object
        let other = try await sample.create([.ana], by: .bo, isDistinct: true, metadata: ["a": "b"])
        #expect(other == .conflict(other.object))
        #expect(try await !sample.sees(first.id, .bo))
    }

    @Test func `a match by the server announces the conversation (ruling 15)`() async throws {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana)
        let id = try await sample.create([.bo], by: .ana, isDistinct: true).object.id
        let kinds = try await sample.kinds {
            try await sample.create(isDistinct: true)
            try await sample.create(isDistinct: true)
        }
        #expect(kinds == ["conversation.announced"])
        #expect(try await sample.sees(id, .bo))
    }

    @Test func `a participant added before it does not see the conversation until then (R53)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana)
        let id = try await sample.create([], by: .ana).object.id
        try await sample.patch(id, .addParticipant(.bo))
        #expect(try await !sample.sees(id, .bo))
        try await sample.patch(id, .removeParticipant(.bo))
        #expect(try await !sample.sees(id, .bo))
        try await sample.patch(id, .addParticipant(.bo))
        _ = try await sample.post(as: .ana, in: id)
        #expect(try await sample.sees(id, .bo))
    }

    @Test func `creation and deletion are events (R54)`() async throws {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana)
        let kinds = try await sample.kinds {
            let id = try await sample.create([.bo], by: .ana).object.id
            try await sample.delete(id, .forAll, by: .ana)
        }
        #expect(kinds == ["conversation.created", "conversation.shown", "conversation.deleted"])
    }

    @Test func `a user who creates must exist (ruling 19)`() async throws {
        let sample = try await SampleApplication()
        await #expect(throws: Rejection.notFound(.user)) { try await sample.create([], by: .cy) }
        #expect(try await sample.events().count == 1)
    }
}
