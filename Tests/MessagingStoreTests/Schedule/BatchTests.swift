import Messaging
import Testing

@testable import MessagingStore

@Suite struct `A batch of messages` {
    @Test func `5.2.1: messages without a schedule are sent at once, in order`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let kinds = try await sample.kinds {
            try await sample.batch(
                [
                    Message.BatchItem(sample.draft("one")),
                    Message.BatchItem(sample.draft("four"), Schedule(delay: 2000)),
                    Message.BatchItem(sample.draft("two")),
                    Message.BatchItem(sample.draft("three"), Schedule(delay: 1000)),
                ], to: conversation)
        }
        #expect(
            kinds == ["message.sent", "message.scheduled", "message.sent", "message.scheduled"])
        #expect(try await sample.texts(of: conversation) == ["two", "one"])
        try await sample.send(after: 5)
        #expect(try await sample.texts(of: conversation) == ["four", "three", "two", "one"])
    }

    @Test func `R28: one rejected message rejects the whole batch`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let rows = try await sample.rows()
        await #expect(throws: Rejection.invalid("sender.user_id", .senderParticipant)) {
            try await sample.batch(
                [
                    Message.BatchItem(sample.draft("one")),
                    Message.BatchItem(sample.draft("two"), Schedule(delay: 1000)),
                    Message.BatchItem(sample.draft("three", by: .user(.cy))),
                ], to: conversation, key: .sample(42))
        }
        #expect(try await sample.rows() == rows)
        #expect(try await sample.send(after: 5) == nil)
    }

    @Test func `R111: a repeated key sends it once`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let kinds = try await sample.kinds {
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        let answer = try await sample.batch(
                            [
                                Message.BatchItem(sample.draft("one")),
                                Message.BatchItem(sample.draft("two")),
                            ],
                            to: conversation, key: .sample(42))
                        #expect(answer == .accepted(conversation))
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(kinds == ["message.sent", "message.sent", "batch.accepted"])
        await #expect(throws: ReplayedAcceptance(conversation: conversation)) {
            try await sample.send(to: conversation, key: .sample(42))
        }
    }

    @Test func `1.9: a taken id is returned, and nothing is sent`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let holder = try await sample.send(to: conversation, id: .sample(7)).object
        let kinds = try await sample.kinds {
            let answer = try await sample.batch(
                [
                    Message.BatchItem(sample.draft("one")),
                    Message.BatchItem(sample.draft("two", id: .sample(7))),
                ], to: conversation)
            #expect(answer == .idInUse(holder))
        }
        #expect(kinds == [])
    }
}
