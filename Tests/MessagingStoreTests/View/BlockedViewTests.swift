import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Blocked users` {
    @Test(arguments: [true, false])
    func `neither sees what the other sends, whoever blocks (R32, rulings 11)`(
        byFirst: Bool
    ) async throws {
        let (shop, id) = try await group()
        _ = try await shop.say("before", as: .bo, in: id)
        if byFirst {
            try await shop.block(.bo, by: .ana)
        } else {
            try await shop.block(.ana, by: .bo)
        }
        let hidden = try await shop.say("from bo", as: .bo, in: id)
        _ = try await shop.say("from ana", as: .ana, in: id)
        #expect(try await shop.texts(of: id, for: .ana) == ["from ana", "before"])
        #expect(try await shop.texts(of: id, for: .bo) == ["from bo", "before"])
        #expect(try await shop.texts(of: id, for: .cy) == ["from ana", "from bo", "before"])
        let view = try await shop.view(of: id, for: .ana)
        #expect(view.totalCount == 2)
        #expect(view.unreadCount == 1)
        #expect(view.lastMessage?.text == "from ana")
        await #expect(throws: Rejection.notFound(.message)) {
            try await shop.store.message(hidden, seenBy: .ana, in: shop.application)
        }
        await #expect(throws: Rejection.notFound(.message)) {
            try await shop.store.messages(
                in: id, seenBy: .ana, after: hidden, limit: 1, in: shop.application)
        }
    }

    @Test func `the sender is not told: the status stays sent (R32)`() async throws {
        let (shop, id) = try await group()
        try await shop.block(.bo, by: .ana)
        let message = try await shop.say(as: .bo, in: id)
        _ = try await shop.say(as: .cy, in: id)
        _ = try await shop.store.markAllRead(upTo: nil, by: .ana, in: id, in: shop.application)
        let seen = try await shop.store.message(message, seenBy: .bo, in: shop.application)
        #expect(seen.recipients.first { entry in entry.userID == .ana }?.status == .sent)
        #expect(try await shop.view(of: id, for: .ana).unreadCount == 0)
    }

    @Test func `what was sent meanwhile stays hidden after unblocking (R34, rulings 11)`()
        async throws
    {
        let (shop, id) = try await group()
        try await shop.block(.bo, by: .ana)
        _ = try await shop.say("hidden", as: .bo, in: id)
        try await shop.store.patchUser(.ana, [.unblock(.bo)], in: shop.application)
        _ = try await shop.say("seen", as: .bo, in: id)
        #expect(try await shop.texts(of: id, for: .ana) == ["seen"])
    }

    @Test func `a hidden message brings no conversation back (R16, R32)`() async throws {
        let (shop, id) = try await group()
        try await shop.block(.bo, by: .ana)
        try await shop.delete(id, .forMe, by: .ana)
        _ = try await shop.say("hidden", as: .bo, in: id)
        #expect(try await !shop.sees(id, .ana))
        _ = try await shop.say("seen", as: .cy, in: id)
        #expect(try await shop.texts(of: id, for: .ana) == ["seen"])
    }

    @Test func `a user added later does not see what was sent during a block (rulings 20)`()
        async throws
    {
        let shop = try await Shop()
        let id = try await shop.conversation([.bo, .cy])
        _ = try await shop.say("before", as: .bo, in: id)
        try await shop.block(.bo, by: .ana)
        _ = try await shop.say("hidden", as: .bo, in: id)
        try await shop.store.patchUser(.ana, [.unblock(.bo)], in: shop.application)
        _ = try await shop.say("between", as: .bo, in: id)
        try await shop.block(.ana, by: .bo)
        _ = try await shop.say("hidden too", as: .bo, in: id)
        try await shop.store.patchConversation(id, [.addParticipant(.ana)], in: shop.application)
        #expect(try await shop.texts(of: id, for: .ana) == ["between", "before"])
        #expect(try await shop.view(of: id, for: .ana).totalCount == 2)
        try await shop.expectSameRowsAgain()
    }

    @Test func `removing, sending and adding again reveals nothing (rulings 20)`() async throws {
        let shop = try await Shop()
        try await shop.block(.bo, by: .ana)
        let id = try await shop.create([.ana], by: .bo).object.id
        _ = try await shop.say("one", as: .bo, in: id)
        try await shop.store.patchConversation(
            id, [.removeParticipant(.ana)], by: .bo, in: shop.application)
        _ = try await shop.say("two", as: .bo, in: id)
        try await shop.store.patchConversation(
            id, [.addParticipant(.ana)], by: .bo, in: shop.application)
        #expect(try await !shop.sees(id, .ana))
        try await shop.store.patchConversation(id, [.addParticipant(.cy)], in: shop.application)
        _ = try await shop.say("three", as: .cy, in: id)
        #expect(try await shop.texts(of: id, for: .ana) == ["three"])
    }

    @Test func `an import tells blocks of before, for users who are added after it (rulings 20)`()
        async throws
    {
        let shop = try await Shop()
        let conversation = try await shop.conversation([.bo, .cy])
        _ = try await shop.say("before", as: .bo, in: conversation)
        try await shop.block(.bo, by: .ana)
        _ = try await shop.say("hidden", as: .bo, in: conversation)
        try await shop.store.patchUser(.ana, [.unblock(.bo)], in: shop.application)
        _ = try await shop.say("after", as: .bo, in: conversation)
        let lines = try await shop.lines()
        let copy = try await Shop(opening: shop.application, isEmpty: true)
        try await copy.take(lines)
        #expect(try await copy.lines() == lines)
        try await copy.store.patchConversation(
            conversation, [.addParticipant(.ana)], in: copy.application)
        #expect(try await copy.texts(of: conversation, for: .ana) == ["after", "before"])
        #expect(try await Set(copy.take(lines)) == [.present])
    }

    @Test func `a user creates and adds nobody he blocks, not even by a match (R31)`() async throws
    {
        let shop = try await Shop()
        try await shop.create([.ana, .bo], isDistinct: true)
        let other = try await shop.conversation([.ana])
        try await shop.block(.bo, by: .ana)
        for isDistinct in [true, false] {
            await #expect(throws: Rejection.participantBlocked) {
                try await shop.create([.bo], by: .ana, isDistinct: isDistinct)
            }
        }
        await #expect(throws: Rejection.participantBlocked) {
            try await shop.store.patchConversation(
                other, [.addParticipant(.bo)], by: .ana, in: shop.application)
        }
        #expect(try await shop.read(other).participants.map(\.userID) == [.ana])
    }

    @Test func `the system may join them, and the blocked one may create (R33)`() async throws {
        let shop = try await Shop()
        try await shop.block(.bo, by: .ana)
        let joined = try await shop.conversation([.ana, .bo])
        #expect(try await shop.sees(joined, .ana))
        let made = try await shop.create([.ana], by: .bo).object.id
        _ = try await shop.say(as: .bo, in: made)
        #expect(try await shop.sees(made, .bo))
        #expect(try await !shop.sees(made, .ana))
    }

    @Test func `blocking oneself has no effect (R30)`() async throws {
        let (shop, id) = try await group()
        try await shop.block(.ana, by: .ana)
        _ = try await shop.say("mine", as: .ana, in: id)
        #expect(try await shop.texts(of: id, for: .ana) == ["mine"])
        try await shop.create([.bo], by: .ana)
    }

    private func group() async throws -> (Shop, Conversation.ID) {
        let shop = try await Shop()
        return (shop, try await shop.conversation([.ana, .bo, .cy]))
    }
}
