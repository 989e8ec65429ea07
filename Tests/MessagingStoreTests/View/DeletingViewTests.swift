import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Deleting a conversation for one user` {
    @Test func `hides the conversation, and other users see no change (R16)`() async throws {
        let (sample, id) = try await conversationOfThree()
        let before = try await sample.view(of: id, for: .bo)
        try await sample.delete(id, .forMe, by: .ana)
        #expect(try await !sample.sees(id, .ana))
        #expect(try await sample.view(of: id, for: .bo) == before)
        #expect(try await sample.read(id).participants.map(\.userID) == [.ana, .bo, .cy])
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.delete(id, .forMe, by: .ana)
        }
    }

    @Test func `a new message shows it again, with messages sent since (R16)`() async throws {
        let (sample, id) = try await conversationOfThree()
        try await sample.delete(id, .forMe, by: .ana)
        _ = try await sample.post("new", as: .bo, in: id)
        let view = try await sample.view(of: id, for: .ana)
        #expect(view.totalCount == 1)
        #expect(view.unreadCount == 1)
        #expect(try await sample.texts(of: id, for: .ana) == ["new"])
    }

    @Test func `the user can still send, which shows it again (ruling 15)`() async throws {
        let (sample, id) = try await conversationOfThree()
        try await sample.delete(id, .forMe, by: .ana)
        _ = try await sample.post("mine", as: .ana, in: id)
        #expect(try await sample.texts(of: id, for: .ana) == ["mine"])
        #expect(try await sample.view(of: id, for: .ana).unreadCount == 0)
    }

    @Test func `leaving removes the participant, and new messages do not show it (R17, R5)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.create([.ana, .bo], isDistinct: true)
        let id = try await sample.view(of: .ana).id
        let kinds = try await sample.kinds { try await sample.delete(id, .leaving, by: .ana) }
        #expect(kinds == ["conversation.updated.participants", "conversation.hidden"])
        let now = try await sample.read(id)
        #expect(now.participants.map(\.userID) == [.bo])
        #expect(!now.conversation.isDistinct)
        _ = try await sample.post("later", as: .bo, in: id)
        #expect(try await !sample.sees(id, .ana))
        await #expect(throws: Rejection.accessDenied) {
            _ = try await sample.post(as: .ana, in: id)
        }
    }

    @Test func `a user who left and is added again sees the whole history (R17, ruling 15)`()
        async throws
    {
        let (sample, id) = try await conversationOfThree()
        try await sample.delete(id, .leaving, by: .ana)
        _ = try await sample.post("meanwhile", as: .bo, in: id)
        try await sample.patch(id, .addParticipant(.ana))
        #expect(try await sample.texts(of: id, for: .ana) == ["meanwhile", "2", "1"])
        #expect(try await sample.view(of: id, for: .ana).unreadCount == 0)
    }

    @Test func `earlier deletions still apply after being added again (R15)`() async throws {
        let (sample, id) = try await conversationOfThree()
        try await sample.delete(id, .forMe, by: .ana)
        let kept = try await sample.post("3", as: .bo, in: id)
        _ = try await sample.post("4", as: .bo, in: id)
        try await sample.store.deleteMessage(kept, forAll: false, by: .ana, in: sample.application)
        try await sample.patch(id, .removeParticipant(.ana))
        _ = try await sample.post("5", as: .bo, in: id)
        try await sample.patch(id, .addParticipant(.ana))
        #expect(try await sample.texts(of: id, for: .ana) == ["5", "4"])
        #expect(try await sample.view(of: id, for: .ana).totalCount == 2)
    }

    @Test func `a user who deleted it can still leave (R17)`() async throws {
        let (sample, id) = try await conversationOfThree()
        try await sample.delete(id, .forMe, by: .ana)
        try await sample.delete(id, .leaving, by: .ana)
        _ = try await sample.post("later", as: .bo, in: id)
        #expect(try await !sample.sees(id, .ana))
    }

    @Test func `a former participant can delete for themselves, not for others (R14)`() async throws
    {
        let (sample, id) = try await conversationOfThree()
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
            _ = try await sample.post(as: .ana, in: id)
        }
        #expect(try await sample.create([.bo], by: .ana, isDistinct: true).object.id != id)
    }

    @Test
    func `a message deleted for one user is hidden in that view, and counts decrease (R29, R27)`()
        async throws
    {
        let (sample, id) = try await conversationOfThree()
        let last = try await sample.post("3", as: .bo, in: id)
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

    @Test func `a message deleted for all is deleted from frozen views too (ruling 15)`()
        async throws
    {
        let (sample, id) = try await conversationOfThree()
        let last = try await sample.post("3", as: .bo, in: id)
        try await sample.patch(id, .removeParticipant(.ana))
        try await sample.store.deleteMessage(last, forAll: true, by: .cy, in: sample.application)
        let view = try await sample.view(of: id, for: .ana)
        #expect(view.isFormer)
        #expect(view.lastMessage?.text == "2")
        #expect(view.totalCount == 2)
    }

    /// A conversation of three users with two messages.
    private func conversationOfThree() async throws -> (SampleApplication, Conversation.ID) {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([.ana, .bo, .cy])
        _ = try await sample.post("1", as: .ana, in: id)
        _ = try await sample.post("2", as: .bo, in: id)
        return (sample, id)
    }
}
