import Messaging
import Testing

@testable import MessagingStore

@Suite struct `The content of a user` {
    @Test func `R86: can be read by its uploader before any message shows it`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana, .bo])
        let content = try await sample.upload(to: nil, by: .ana)
        #expect(try await sample.content(content.id, for: .ana) == content)
        await #expect(throws: Rejection.notFound(.content)) {
            try await sample.content(content.id, for: .bo)
        }
    }

    @Test func `R86: can be read by users as long as they see a message that attaches it`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        try await sample.conversation([.cy])
        let content = try await sample.upload(to: nil, by: .ana).id
        let message = try await sample.attach(content, to: conversation).message.id
        // The first message binds the content (ruling 18).
        #expect(try await sample.content(content, for: .bo).conversation == conversation)
        await #expect(throws: Rejection.notFound(.content)) {
            try await sample.content(content, for: .cy)
        }
        try await sample.patch(conversation, .addParticipant(.cy))
        #expect(try await sample.content(content, for: .cy).id == content)
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        await #expect(throws: Rejection.notFound(.content)) {
            try await sample.content(content, for: .bo)
        }
    }

    @Test func `R86: cannot be read by a former participant if it was added after they left`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        try await sample.patch(conversation, .removeParticipant(.bo))
        let content = try await sample.upload(to: conversation).id
        try await sample.attach(content, to: conversation)
        #expect(try await sample.content(content, for: .ana).id == content)
        await #expect(throws: Rejection.notFound(.content)) {
            try await sample.content(content, for: .bo)
        }
    }

    @Test func `ruling 19: cannot be read or uploaded by unknown users`() async throws {
        let sample = try await SampleApplication()
        let content = try await sample.upload(to: try await sample.conversation()).id
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.content(content, for: .named("unknown"))
        }
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.store.requireUser(.named("unknown"), in: sample.application)
        }
    }
}

extension SampleApplication {
    fileprivate func content(_ id: Content.ID, for user: UserID) async throws -> Content {
        try await store.content(id, seenBy: user, in: application)
    }
}
