import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Blocked users` {
    @Test(arguments: [true, false])
    func `neither sees the other's messages, whichever blocks (R32, ruling 11)`(
        byFirst: Bool
    ) async throws {
        let (sample, id) = try await group()
        _ = try await sample.post("before", as: .bo, in: id)
        if byFirst {
            try await sample.block(.bo, by: .ana)
        } else {
            try await sample.block(.ana, by: .bo)
        }
        let hidden = try await sample.post("from bo", as: .bo, in: id)
        _ = try await sample.post("from ana", as: .ana, in: id)
        #expect(try await sample.texts(of: id, for: .ana) == ["from ana", "before"])
        #expect(try await sample.texts(of: id, for: .bo) == ["from bo", "before"])
        #expect(try await sample.texts(of: id, for: .cy) == ["from ana", "from bo", "before"])
        let view = try await sample.view(of: id, for: .ana)
        #expect(view.totalCount == 2)
        #expect(view.unreadCount == 1)
        #expect(view.lastMessage?.text == "from ana")
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.message(
                hidden, in: nil, seenBy: .user(.ana), in: sample.application)
        }
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.messages(
                in: id, seenBy: .user(.ana), after: hidden, limit: 1, in: sample.application)
        }
    }

    @Test func `the block is not revealed to the sender: the status stays sent (R32)`() async throws
    {
        let (sample, id) = try await group()
        try await sample.block(.bo, by: .ana)
        let message = try await sample.post(as: .bo, in: id)
        _ = try await sample.post(as: .cy, in: id)
        _ = try await sample.store.markAllRead(upTo: nil, by: .ana, in: id, in: sample.application)
        let seen = try await sample.store.message(
            message, in: nil, seenBy: .user(.bo), in: sample.application)
        #expect(seen.recipients.first { entry in entry.userID == .ana }?.status == .sent)
        #expect(try await sample.view(of: id, for: .ana).unreadCount == 0)
    }

    @Test func `messages sent during a block stay hidden after unblocking (R34, ruling 11)`()
        async throws
    {
        let (sample, id) = try await group()
        try await sample.block(.bo, by: .ana)
        _ = try await sample.post("hidden", as: .bo, in: id)
        try await sample.store.patchUser(.ana, [.unblock(.bo)], in: sample.application)
        _ = try await sample.post("seen", as: .bo, in: id)
        #expect(try await sample.texts(of: id, for: .ana) == ["seen"])
    }

    @Test func `a hidden message does not show a deleted conversation again (R16, R32)`()
        async throws
    {
        let (sample, id) = try await group()
        try await sample.block(.bo, by: .ana)
        try await sample.delete(id, .forMe, by: .ana)
        _ = try await sample.post("hidden", as: .bo, in: id)
        #expect(try await !sample.sees(id, .ana))
        _ = try await sample.post("seen", as: .cy, in: id)
        #expect(try await sample.texts(of: id, for: .ana) == ["seen"])
    }

    @Test func `a user added later does not see messages sent during a block (ruling 20)`()
        async throws
    {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([.bo, .cy])
        _ = try await sample.post("before", as: .bo, in: id)
        try await sample.block(.bo, by: .ana)
        _ = try await sample.post("hidden", as: .bo, in: id)
        try await sample.store.patchUser(.ana, [.unblock(.bo)], in: sample.application)
        _ = try await sample.post("between", as: .bo, in: id)
        try await sample.block(.ana, by: .bo)
        _ = try await sample.post("hidden too", as: .bo, in: id)
        try await sample.store.patchConversation(
            id, [.addParticipant(.ana)], in: sample.application)
        #expect(try await sample.texts(of: id, for: .ana) == ["between", "before"])
        #expect(try await sample.view(of: id, for: .ana).totalCount == 2)
        try await sample.expectSameRowsAgain()
    }

    @Test func `removing, sending and adding again reveals nothing (ruling 20)`() async throws {
        let sample = try await SampleApplication()
        try await sample.block(.bo, by: .ana)
        let id = try await sample.create([.ana], by: .bo).object.id
        _ = try await sample.post("one", as: .bo, in: id)
        try await sample.store.patchConversation(
            id, [.removeParticipant(.ana)], by: .bo, in: sample.application)
        _ = try await sample.post("two", as: .bo, in: id)
        try await sample.store.patchConversation(
            id, [.addParticipant(.ana)], by: .bo, in: sample.application)
        #expect(try await !sample.sees(id, .ana))
        try await sample.store.patchConversation(id, [.addParticipant(.cy)], in: sample.application)
        _ = try await sample.post("three", as: .cy, in: id)
        #expect(try await sample.texts(of: id, for: .ana) == ["three"])
    }

    @Test func `an import keeps earlier blocks for users added after it (ruling 20)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.bo, .cy])
        _ = try await sample.post("before", as: .bo, in: conversation)
        try await sample.block(.bo, by: .ana)
        _ = try await sample.post("hidden", as: .bo, in: conversation)
        try await sample.store.patchUser(.ana, [.unblock(.bo)], in: sample.application)
        _ = try await sample.post("after", as: .bo, in: conversation)
        let lines = try await sample.exportedLines()
        let copy = try await SampleApplication(opening: sample.application, isEmpty: true)
        try await copy.importLines(lines)
        #expect(try await copy.exportedLines() == lines)
        try await copy.store.patchConversation(
            conversation, [.addParticipant(.ana)], in: copy.application)
        #expect(try await copy.texts(of: conversation, for: .ana) == ["after", "before"])
        #expect(try await Set(copy.importLines(lines)) == [.present])
    }

    @Test func `a user cannot create with or add users they block, not even by a match (R31)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.create([.ana, .bo], isDistinct: true)
        let other = try await sample.conversation([.ana])
        try await sample.block(.bo, by: .ana)
        for isDistinct in [true, false] {
            await #expect(throws: Rejection.participantBlocked) {
                try await sample.create([.bo], by: .ana, isDistinct: isDistinct)
            }
        }
        await #expect(throws: Rejection.participantBlocked) {
            try await sample.store.patchConversation(
                other, [.addParticipant(.bo)], by: .ana, in: sample.application)
        }
        #expect(try await sample.read(other).participants.map(\.userID) == [.ana])
    }

    @Test func `the system can add both, and the blocked user can create (R33)`() async throws {
        let sample = try await SampleApplication()
        try await sample.block(.bo, by: .ana)
        let joined = try await sample.conversation([.ana, .bo])
        #expect(try await sample.sees(joined, .ana))
        let made = try await sample.create([.ana], by: .bo).object.id
        _ = try await sample.post(as: .bo, in: made)
        #expect(try await sample.sees(made, .bo))
        #expect(try await !sample.sees(made, .ana))
    }

    @Test func `a user's block of themselves has no effect (R30)`() async throws {
        let (sample, id) = try await group()
        try await sample.block(.ana, by: .ana)
        _ = try await sample.post("mine", as: .ana, in: id)
        #expect(try await sample.texts(of: id, for: .ana) == ["mine"])
        try await sample.create([.bo], by: .ana)
    }

    private func group() async throws -> (SampleApplication, Conversation.ID) {
        let sample = try await SampleApplication()
        return (sample, try await sample.conversation([.ana, .bo, .cy]))
    }
}
