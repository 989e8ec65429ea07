import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Deleting for oneself` {
    @Test func `a conversation goes, the others notice nothing (R16)`() async throws {
        let (shop, id) = try await talk()
        let before = try await shop.view(of: id, for: .bo)
        try await shop.delete(id, .forMe, by: .ana)
        #expect(try await !shop.sees(id, .ana))
        #expect(try await shop.view(of: id, for: .bo) == before)
        #expect(try await shop.read(id).participants.map(\.userID) == [.ana, .bo, .cy])
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await shop.delete(id, .forMe, by: .ana)
        }
    }

    @Test func `a message brings it back, with what came since (R16)`() async throws {
        let (shop, id) = try await talk()
        try await shop.delete(id, .forMe, by: .ana)
        _ = try await shop.say("new", as: .bo, in: id)
        let view = try await shop.view(of: id, for: .ana)
        #expect(view.totalCount == 1)
        #expect(view.unreadCount == 1)
        #expect(try await shop.texts(of: id, for: .ana) == ["new"])
    }

    @Test func `he may still post, and it is back from then on (rulings 15)`() async throws {
        let (shop, id) = try await talk()
        try await shop.delete(id, .forMe, by: .ana)
        _ = try await shop.say("mine", as: .ana, in: id)
        #expect(try await shop.texts(of: id, for: .ana) == ["mine"])
        #expect(try await shop.view(of: id, for: .ana).unreadCount == 0)
    }

    @Test func `leaving takes part no more and does not come back (R17, R5)`() async throws {
        let shop = try await Shop()
        try await shop.create([.ana, .bo], isDistinct: true)
        let id = try await shop.view(of: .ana).id
        let kinds = try await shop.kinds { try await shop.delete(id, .leaving, by: .ana) }
        #expect(kinds == ["participants.changed", "conversation.hidden"])
        let now = try await shop.read(id)
        #expect(now.participants.map(\.userID) == [.bo])
        #expect(!now.conversation.isDistinct)
        _ = try await shop.say("later", as: .bo, in: id)
        #expect(try await !shop.sees(id, .ana))
        await #expect(throws: Rejection.accessDenied) {
            _ = try await shop.say(as: .ana, in: id)
        }
    }

    @Test func `who left and is added again sees the whole history (R17, rulings 15)`() async throws
    {
        let (shop, id) = try await talk()
        try await shop.delete(id, .leaving, by: .ana)
        _ = try await shop.say("meanwhile", as: .bo, in: id)
        try await shop.patch(id, .addParticipant(.ana))
        #expect(try await shop.texts(of: id, for: .ana) == ["meanwhile", "2", "1"])
        #expect(try await shop.view(of: id, for: .ana).unreadCount == 0)
    }

    @Test func `his earlier deletions stay in force then (R15)`() async throws {
        let (shop, id) = try await talk()
        try await shop.delete(id, .forMe, by: .ana)
        let kept = try await shop.say("3", as: .bo, in: id)
        _ = try await shop.say("4", as: .bo, in: id)
        try await shop.store.deleteMessage(kept, forAll: false, by: .ana, in: shop.application)
        try await shop.patch(id, .removeParticipant(.ana))
        _ = try await shop.say("5", as: .bo, in: id)
        try await shop.patch(id, .addParticipant(.ana))
        #expect(try await shop.texts(of: id, for: .ana) == ["5", "4"])
        #expect(try await shop.view(of: id, for: .ana).totalCount == 2)
    }

    @Test func `one who deleted it can still leave (R17)`() async throws {
        let (shop, id) = try await talk()
        try await shop.delete(id, .forMe, by: .ana)
        try await shop.delete(id, .leaving, by: .ana)
        _ = try await shop.say("later", as: .bo, in: id)
        #expect(try await !shop.sees(id, .ana))
    }

    @Test func `a former participant deletes for himself, not for others (R14)`() async throws {
        let (shop, id) = try await talk()
        try await shop.patch(id, .removeParticipant(.ana))
        await #expect(throws: Rejection.accessDenied) {
            try await shop.delete(id, .forAll, by: .ana)
        }
        try await shop.delete(id, .forMe, by: .ana)
        #expect(try await !shop.sees(id, .ana))
        try await shop.patch(id, .addParticipant(.ana))
        #expect(try await shop.texts(of: id, for: .ana) == [])
    }

    @Test func `for all it is gone for everybody, and its set is free (R18)`() async throws {
        let shop = try await Shop()
        let id = try await shop.create([.ana, .bo], isDistinct: true).object.conversation.id
        try await shop.delete(id, .forAll, by: .bo)
        for user in [UserID.ana, .bo] { #expect(try await !shop.sees(id, user)) }
        await #expect(throws: Rejection.notFound(.conversation)) {
            _ = try await shop.say(as: .ana, in: id)
        }
        #expect(try await shop.create([.bo], by: .ana, isDistinct: true).object.id != id)
    }

    @Test func `a message for me is hidden in that view only, counts fall (R29, R27)`() async throws
    {
        let (shop, id) = try await talk()
        let last = try await shop.say("3", as: .bo, in: id)
        try await shop.store.deleteMessage(last, forAll: false, by: .ana, in: shop.application)
        let view = try await shop.view(of: id, for: .ana)
        #expect(view.lastMessage?.text == "2")
        #expect(view.totalCount == 2)
        #expect(view.unreadCount == 1)
        #expect(try await shop.texts(of: id, for: .cy) == ["3", "2", "1"])
        await #expect(throws: Rejection.notFound(.message)) {
            try await shop.store.recordReceipt(.read, of: last, by: .ana, in: shop.application)
        }
    }

    @Test func `a message for all vanishes from frozen views too (rulings 15)`() async throws {
        let (shop, id) = try await talk()
        let last = try await shop.say("3", as: .bo, in: id)
        try await shop.patch(id, .removeParticipant(.ana))
        try await shop.store.deleteMessage(last, forAll: true, by: .cy, in: shop.application)
        let view = try await shop.view(of: id, for: .ana)
        #expect(view.isFormer)
        #expect(view.lastMessage?.text == "2")
        #expect(view.totalCount == 2)
    }

    /// Ana says 1 and bo says 2, before cy.
    private func talk() async throws -> (Shop, Conversation.ID) {
        let shop = try await Shop()
        let id = try await shop.conversation([.ana, .bo, .cy])
        _ = try await shop.say("1", as: .ana, in: id)
        _ = try await shop.say("2", as: .bo, in: id)
        return (shop, id)
    }
}
