import Messaging
import Testing

@testable import MessagingStore

@Suite struct `A batch of messages` {
    @Test func `5.2.1: what has no schedule is sent at once, in order`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let kinds = try await shop.kinds {
            try await shop.batch(
                [
                    Message.Sending(shop.draft("one")),
                    Message.Sending(shop.draft("four"), Schedule(delay: 2000)),
                    Message.Sending(shop.draft("two")),
                    Message.Sending(shop.draft("three"), Schedule(delay: 1000)),
                ], to: conversation)
        }
        #expect(
            kinds == ["message.sent", "message.scheduled", "message.sent", "message.scheduled"])
        #expect(try await shop.texts(of: conversation) == ["two", "one"])
        try await shop.send(after: 5)
        #expect(try await shop.texts(of: conversation) == ["four", "three", "two", "one"])
    }

    @Test func `R28: one that cannot be sent leaves no trace of the others`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let rows = try await shop.rows()
        await #expect(throws: Rejection.invalid("sender.user_id", .senderParticipant)) {
            try await shop.batch(
                [
                    Message.Sending(shop.draft("one")),
                    Message.Sending(shop.draft("two"), Schedule(delay: 1000)),
                    Message.Sending(shop.draft("three", by: .user(.cy))),
                ], to: conversation, key: .sample(42))
        }
        #expect(try await shop.rows() == rows)
        #expect(try await shop.send(after: 5) == nil)
    }

    @Test func `R111: a key sends it once, however often it comes`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let kinds = try await shop.kinds {
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        let answer = try await shop.batch(
                            [
                                Message.Sending(shop.draft("one")),
                                Message.Sending(shop.draft("two")),
                            ],
                            to: conversation, key: .sample(42))
                        #expect(answer == .accepted(conversation))
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(kinds == ["message.sent", "message.sent", "batch.accepted"])
        await #expect(throws: AnsweredBefore(conversation: conversation)) {
            try await shop.send(to: conversation, key: .sample(42))
        }
    }

    @Test func `1.9: a taken id is told, and nothing is sent`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let holder = try await shop.send(to: conversation, id: .sample(7)).object
        let kinds = try await shop.kinds {
            let answer = try await shop.batch(
                [
                    Message.Sending(shop.draft("one")),
                    Message.Sending(shop.draft("two", id: .sample(7))),
                ], to: conversation)
            #expect(answer == .idInUse(holder))
        }
        #expect(kinds == [])
    }
}
