import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Uploaded content` {
    @Test func `R24: finishing twice makes one content and one event`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let kinds = try await sample.kinds {
            let content = try await sample.upload(to: conversation)
            try await sample.upload(to: conversation)
            #expect(
                try await sample.store.content(content.id, in: nil, in: sample.application)
                    == content)
        }
        #expect(kinds == ["content.uploaded"])
    }

    @Test func `extensions: the stored size wins over the claimed one`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let content = try await sample.upload(size: 5, to: conversation)
        let sent = try await sample.attach(content.id, to: conversation, claiming: 99)
        #expect(sent.message.parts.first?.body == .content(content.id, size: 5))
        let read = try await sample.store.message(sent.message.id, in: nil, in: sample.application)
        #expect(read == sent)
    }

    @Test func `an unused content can be withdrawn once`() async throws {
        let sample = try await SampleApplication()
        let content = try await sample.upload(to: try await sample.conversation())
        let kinds = try await sample.kinds {
            for _ in 1...2 {
                let isGone = try await sample.store.withdrawContent(content.id)
                #expect(isGone)
            }
        }
        #expect(kinds == ["content.withdrawn"])
        #expect(try await sample.store.signedContent(content.id) == nil)
    }

    @Test func `a content that a message shows cannot be withdrawn`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let content = try await sample.upload(to: conversation)
        try await sample.attach(content.id, to: conversation)
        let kinds = try await sample.kinds {
            let isGone = try await sample.store.withdrawContent(content.id)
            #expect(!isGone)
        }
        #expect(kinds.isEmpty)
        #expect(try await sample.store.signedContent(content.id) == content)
    }

    @Test func `R18: a content of a conversation that was deleted meanwhile is rejected`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.store.deleteConversation(conversation, in: sample.application)
        let kinds = try await sample.kinds {
            await #expect(throws: Rejection.objectDeleted) {
                try await sample.upload(to: conversation)
            }
        }
        #expect(kinds.isEmpty)
    }

    @Test func `R24: a content cannot be attached in another conversation`() async throws {
        let sample = try await SampleApplication()
        let (here, there) = try await (sample.conversation(), sample.conversation())
        let content = try await sample.upload(to: here)
        await #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
            try await sample.attach(content.id, to: there)
        }
        await #expect(throws: Rejection.notFound(.content)) {
            try await sample.store.content(content.id, in: there, in: sample.application)
        }
    }

    @Test func `ruling 18: a content without conversation belongs to the first that attaches it`()
        async throws
    {
        let sample = try await SampleApplication()
        let (here, there) = try await (sample.conversation(), sample.conversation())
        let content = try await sample.upload(to: nil)
        try await sample.attach(content.id, to: here)
        let bound = try await sample.store.content(content.id, in: here, in: sample.application)
        #expect(bound.conversation == here)
        await #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
            try await sample.attach(content.id, to: there)
        }
    }

    @Test func `R24: a content is dropped with the last message that attaches it`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let content = try await sample.upload(to: conversation)
        let first = try await sample.attach(content.id, to: conversation).message.id
        let second = try await sample.attach(content.id, to: conversation).message.id
        try await sample.store.deleteMessage(first, in: nil, in: sample.application)
        #expect(try await sample.store.signedContent(content.id) == content)
        try await sample.store.deleteMessage(second, in: nil, in: sample.application)
        #expect(try await sample.store.signedContent(content.id) == nil)
    }

    @Test func `R18: a content is dropped with its conversation`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let content = try await sample.upload(to: conversation)
        try await sample.store.deleteConversation(conversation, in: sample.application)
        #expect(try await sample.store.signedContent(content.id) == nil)
    }
}

@Suite struct `The bytes of an application` {
    @Test func `are those of its contents, until these are dropped`() async throws {
        let sample = try await SampleApplication()
        let (here, there) = try await (sample.conversation(), sample.conversation())
        try await sample.upload(1, size: 100, to: here)
        let shown = try await sample.upload(2, size: 20, to: there).id
        let unused = try await sample.upload(3, size: 3, to: nil).id
        let message = try await sample.attach(shown, to: there).message.id
        #expect(try await sample.bytes() == 123)
        _ = try await sample.store.withdrawContent(unused)
        #expect(try await sample.bytes() == 120)
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        #expect(try await sample.bytes() == 100)
        try await sample.store.deleteConversation(here, in: sample.application)
        #expect(try await sample.bytes() == 0)
        #expect(try await sample.store.contentBytes(in: .sample(99)) == 0)
    }
}

@Suite struct `The quota of an application` {
    @Test func `goes to one of two contents that are finished at the same time`() async throws {
        let sample = try await SampleApplication()
        let finished = try await withThrowingTaskGroup { group in
            for number in 1...2 as ClosedRange<UInt128> {
                group.addTask {
                    try await sample.store.finishUpload(
                        sample.content(number, size: 6, in: nil), within: 10, in: sample.application
                    )
                }
            }
            return try await group.reduce(into: []) { all, isFinished in all.append(isFinished) }
        }
        #expect(finished.count { $0 } == 1)
        #expect(try await sample.bytes() == 6)
    }

    @Test func `can be filled exactly, and counts no content twice`() async throws {
        let sample = try await SampleApplication()
        let store = sample.store
        let (first, second) = (
            sample.content(1, size: 6, in: nil), sample.content(2, size: 4, in: nil)
        )
        for content in [first, second, first, second] {
            #expect(try await store.finishUpload(content, within: 10, in: sample.application))
        }
        let more = sample.content(3, size: 1, in: nil)
        #expect(try await !store.finishUpload(more, within: 10, in: sample.application))
        #expect(try await store.signedContent(more.id) == nil)
        #expect(try await store.finishUpload(more, within: nil, in: sample.application))
    }
}

extension SampleApplication {
    fileprivate func bytes() async throws -> Int64 { try await store.contentBytes(in: application) }
}
