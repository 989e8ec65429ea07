import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Before the first message` {
    @Test func `only the creator sees a conversation (R51)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana, .bo)
        let made = try await shop.create([.bo], by: .ana).object
        #expect(made.participants.map(\.userID) == [.ana, .bo])
        #expect(try await shop.sees(made.id, .ana))
        #expect(try await !shop.sees(made.id, .bo))
        await #expect(throws: Rejection.notFound(.conversation)) {
            _ = try await shop.say(as: .bo, in: made.id)
        }
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await shop.store.markAllRead(
                upTo: nil, by: .bo, in: made.id, in: shop.application)
        }
    }

    @Test func `the system sees it like any other (R55)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana)
        let id = try await shop.create([.bo], by: .ana).object.id
        #expect(try await shop.read(id).participants.map(\.userID) == [.ana, .bo])
    }

    @Test(arguments: [true, false])
    func `the first message of anybody announces it (R51)`(bySystem: Bool) async throws {
        let shop = try await Shop()
        try await shop.know(.ana)
        let id = try await shop.create([.bo, .cy], by: .ana).object.id
        if bySystem {
            try await shop.send(by: .bo, to: id)
        } else {
            _ = try await shop.say(as: .ana, in: id)
        }
        for user in [UserID.ana, .bo, .cy] { #expect(try await shop.sees(id, user)) }
        #expect(try await shop.view(of: id, for: .cy).unreadCount == 1)
    }

    @Test func `a second participant who asks for it gets it, the rest does not (R53)`()
        async throws
    {
        let shop = try await Shop()
        try await shop.know(.ana, .bo)
        let first = try await shop.create([.bo, .cy], by: .ana, isDistinct: true).object
        let kinds = try await shop.kinds {
            let second = try await shop.create([.ana, .cy], by: .bo, isDistinct: true)
            #expect(second == .matched(second.object))
            #expect(second.object.id == first.id)
        }
        #expect(kinds == ["conversation.shown"])
        #expect(try await shop.sees(first.id, .bo))
        #expect(try await !shop.sees(first.id, .cy))
    }

    @Test func `other metadata is a conflict and shows nothing (R7)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana, .bo)
        let first = try await shop.create([.bo], by: .ana, isDistinct: true).object
        let other = try await shop.create([.ana], by: .bo, isDistinct: true, metadata: ["a": "b"])
        #expect(other == .conflict(other.object))
        #expect(try await !shop.sees(first.id, .bo))
    }

    @Test func `a match by the server announces it (rulings 15)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana)
        let id = try await shop.create([.bo], by: .ana, isDistinct: true).object.id
        let kinds = try await shop.kinds {
            try await shop.create(isDistinct: true)
            try await shop.create(isDistinct: true)
        }
        #expect(kinds == ["conversation.announced"])
        #expect(try await shop.sees(id, .bo))
    }

    @Test func `who is added before it sees nothing until it (R53)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana)
        let id = try await shop.create([], by: .ana).object.id
        try await shop.patch(id, .addParticipant(.bo))
        #expect(try await !shop.sees(id, .bo))
        try await shop.patch(id, .removeParticipant(.bo))
        #expect(try await !shop.sees(id, .bo))
        try await shop.patch(id, .addParticipant(.bo))
        _ = try await shop.say(as: .ana, in: id)
        #expect(try await shop.sees(id, .bo))
    }

    @Test func `the event of creation is one, and of deletion too (R54)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana)
        let kinds = try await shop.kinds {
            let id = try await shop.create([.bo], by: .ana).object.id
            try await shop.delete(id, .forAll, by: .ana)
        }
        #expect(kinds == ["conversation.created", "conversation.shown", "conversation.removed"])
    }

    @Test func `what a user does wants a user that exists (rulings 19)`() async throws {
        let shop = try await Shop()
        await #expect(throws: Rejection.notFound(.user)) { try await shop.create([], by: .cy) }
        #expect(try await shop.events().count == 1)
    }
}
