import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Deleting a conversation for one user` {
    @Test func `a conversation goes, the others notice nothing (R16)`() async throws {
        let (sample, id) = try await talk()
        let before = try await sample.view(of: id, for: .bo)
        try await sample.delete(id, .forMe, by: .ana)
        #expect(try await !sample.sees(id, .ana))
        #expect(try await sample.view(of: id, for: .bo) == before)
        #expect(try await sample.read(id).participants.map(\.userID) == [.ana, .bo, .cy])
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.delete(id, .forMe, by: .ana)
        }
    }

    @Test func `a message brings it back, with what came since (R16)`() async throws {
        let (sample, id) = try await talk()
        try await sample.delete(id, .forMe, by: .ana)
        _ = try await sample.say("new", as: .bo, in: id)
        let view = try await sample.view(of: id, for: .ana)
        #expect(view.totalCount == 1)
        #expect(view.unreadCount == 1)
        #expect(try await sample.texts(of: id, for: .ana) == ["new"])
    }

    @Test func `the user may still send, and it is back from then on (rulings 15)`() async throws {
        let (sample, id) = try await talk()
        try await sample.delete(id, .forMe, by: .ana)
        _ = try await sample.say("mine", as: .ana, in: id)
        #expect(try await sample.texts(of: id, for: .ana) == ["mine"])
        #expect(try await sample.view(of: id, for: .ana).unreadCount == 0)
    }

    @Test func `leaving takes part no more and does not come back (R17, R5)`() async throws {
        let sample = try await SampleApplication()
        try await sample.create([.ana, .bo], isDistinct: true)
        let id = try await sample.view(of: .ana).id
        let kinds = try await sample.kinds { try await sample.delete(id, .leaving, by: .ana) }
        #expect(kinds == ["conversation.updated.participants", "conversation.hidden"])
        let now = try await sample.read(id)
        #expect(now.participants.map(\.userID) == [.bo])
        #expect(!now.conversation.isDistinct)
        _ = try await sample.say("later", as: .bo, in: id)
        #expect(try await !sample.sees(id, .ana))
        await #expect(throws: Rejection.accessDenied) {
            _ = try await sample.say(as: .ana, in: id)
        }
    }

    @Test func `a user who left and is added again sees the whole history (R17, rulings 15)`()
        async throws
    {
        let (sample, id) = try await talk()
        try await sample.delete(id, .leaving, by: .ana)
        _ = try await sample.say("meanwhile", as: .bo, in: id)
        try await sample.patch(id, .addParticipant(.ana))
        #expect(try await sample.texts(of: id, for: .ana) == ["meanwhile", "2", "1"])
        #expect(try await sample.view(of: id, for: .ana).unreadCount == 0)
    }

    @Test func `earlier deletions stay in force then (R15)`() async throws {
        let (sample, id) = try await talk()
        try await sample.delete(id, .forMe, by: .ana)
        let kept = try await sample.say("3", as: .bo, in: id)
        _ = try await sample.say("4", as: .bo, in: id)
        try await sample.store.deleteMessage(kept, forAll: false, by: .ana, in: sample.application)
        try await sample.patch(id, .removeParticipant(.ana))
        _ = try await sample.say("5", as: .bo, in: id)
        try await sample.patch(id, .addParticipant(.ana))
        #expect(try await sample.texts(of: id, for: .ana) == ["5", "4"])
        #expect(try await sample.view(of: id, for: .ana).totalCount == 2)
    }

    @Test func `a user who deleted it can still leave (R17)`() async throws {
        let (sample, id) = try await talk()
        try await sample.delete(id, .forMe, by: .ana)
        try await sample.delete(id, .leaving, by: .ana)
        _ = try await sample.say("later", as: .bo, in: id)
        #expect(try await !sample.sees(id, .ana))
    }

    @Test func `a former participant deletes for themselves, not for others (R14)`() async throws {
        let (sample, id) = try await talk()
        try await sample.patch(id, .removeParticipant(.ana))
        await #expect(throws: Rejection.accessDenied) {
            try await sample.delete(id, .forAll, by: .ana)
        }
        try await sample.delete(id, .forMe, by: .ana)
        #expect(try await !sample.sees(id, .ana))
        try await sample.patch(id, .addParticipant(.ana))
        #expect(try await sample.texts(of: id, for: .ana) == [])
    }

    @Test func `deleting it for all removes it from all views and frees its participants (R18)`()
        async throws
    {
        let sample = try await SampleApplication()
        let id = try await sample.create([.ana, .bo], isDistinct: true).object.conversation.id
        try await sample.delete(id, .forAll, by: .bo)
        for user in [UserID.ana, .bo] { #expect(try await !sample.sees(id, user)) }
        await #expect(throws: Rejection.notFound(.conversation)) {
            _ = try await sample.say(as: .ana, in: id)
        }
        #expect(try await sample.create([.bo], by: .ana, isDistinct: true).object.id != id)
    }

    @Test func `a message for me is hidden in that view only, counts fall (R29, R27)`() async throws
    {
        let (sample, id) = try await talk()
        let last = try await sample.say("3", as: .bo, in: id)
        try await sample.store.deleteMessage(last, forAll: false, by: .ana, in: sample.application)
        let view = try await sample.view(of: id, for: .ana)
        #expect(view.lastMessage?.text == "2")
        #expect(view.totalCount == 2)
        #expect(view.unreadCount == 1)
        #expect(try await sample.texts(of: id, for: .cy) == ["3", "2", "1"])
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.recordReceipt(.read, of: last, by: .ana, in: sample.application)
        }
    }

    @Test func `a message for all vanishes from frozen views too (rulings 15)`() async throws {
        let (sample, id) = try await talk()
        let last = try await sample.say("3", as: .bo, in: id)
        try await sample.patch(id, .removeParticipant(.ana))
        try await sample.store.deleteMessage(last, forAll: true, by: .cy, in: sample.application)
        let view = try await sample.view(of: id, for: .ana)
        #expect(view.isFormer)
        #expect(view.lastMessage?.text == "2")
        #expect(view.totalCount == 2)
    }

    /// Ana says 1 and bo says 2, before cy.
    private func talk() async throws -> (SampleApplication, Conversation.ID) {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([.ana, .bo, .cy])
        _ = try await sample.say("1", as: .ana, in: id)
        _ = try await sample.say("2", as: .bo, in: id)
        return (sample, id)
    }
}
