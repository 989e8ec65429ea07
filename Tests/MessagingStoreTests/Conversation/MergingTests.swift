import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Merging conversations` {
    @Test(arguments: [0, 2_000_000] as [Int64])
    func
        `X1: their messages are in the order of sending in the conversation that was created first`(
            createdAt: Int64
        ) async throws
    {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true).object.conversation.id
        let other = try await sample.addDistinctConversation(7, createdAt: createdAt)
        for (text, conversation) in [("1", own), ("2", other), ("3", own), ("4", other)] {
            sample.tick()
            try await sample.send(text, to: conversation)
        }
        let kinds = try await sample.kinds { try await sample.reconcile(other) }
        #expect(kinds == ["conversation.merged", "conversation.merged"])
        let (winner, loser) = createdAt == 0 ? (other, own) : (own, other)
        for id in [winner, loser] {
            #expect(try await sample.read(id).conversation.id == winner)
            #expect(try await sample.texts(of: id) == ["4", "3", "2", "1"])
        }
        try await sample.send("5", to: loser)
        #expect(try await sample.texts(of: winner) == ["5", "4", "3", "2", "1"])
        let before = try await sample.rows()
        #expect(try await sample.reconcile(loser) == winner)
        #expect(try await sample.addDistinctConversation(7, createdAt: createdAt) == winner)
        #expect(try await sample.rows() == before)
        #expect(try await sample.create(isDistinct: true).object.conversation.id == winner)
        try await sample.expectSameRowsAgain()
    }

    @Test
    func `X1: a single distinct conversation needs no merge, and merging twice changes nothing`()
        async throws
    {
        let sample = try await SampleApplication()
        let only = try await sample.addDistinctConversation(7, createdAt: 5)
        #expect(try await sample.create(isDistinct: true).object.conversation.id == only)
        let before = try await sample.rows()
        try await sample.reconcile(only)
        #expect(try await sample.rows() == before)
    }

    @Test func `R18: a duplicate of a deleted distinct conversation replaces it`() async throws {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true).object.conversation.id
        let other = try await sample.addDistinctConversation(7, createdAt: 5)
        try await sample.send(to: other)
        try await sample.store.deleteConversation(own, in: sample.application)
        let kinds = try await sample.kinds { try await sample.reconcile(other) }
        #expect(kinds == ["conversation.merged"])
        #expect(try await sample.create(isDistinct: true).object.conversation.id == other)
        await #expect(throws: Rejection.objectDeleted) { try await sample.read(own) }
        try await sample.expectSameRowsAgain()
    }

    @Test func `R5: a duplicate whose participants have changed is not merged`() async throws {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true).object.conversation.id
        let other = try await sample.addDistinctConversation(7, createdAt: 5)
        try await sample.patch(other, .addParticipant(.cy))
        try await sample.patch(other, .removeParticipant(.cy))
        let kinds = try await sample.kinds { try await sample.reconcile(other) }
        #expect(kinds.isEmpty)
        #expect(try await sample.create(isDistinct: true).object.conversation.id == own)
        #expect(try await sample.read(other).conversation.id == other)
    }

    @Test func `X1.2: an alias of an alias resolves to the last winner, and is never reused`()
        async throws
    {
        let sample = try await SampleApplication()
        let first: Conversation.ID = .sample(21)
        let own = try await sample.create(isDistinct: true).object.conversation.id
        try await sample.create(isDistinct: true, id: first)
        let second = try await sample.reconcile(
            try await sample.addDistinctConversation(8, createdAt: 500))
        let third = try await sample.reconcile(
            try await sample.addDistinctConversation(9, createdAt: 400))
        #expect(second == .sample(8) && third == .sample(9))
        for alias in [first, own, second] {
            #expect(try await sample.read(alias).conversation.id == third)
            let taken = try await sample.create([.cy], id: alias)
            #expect(taken == .idInUse(try await sample.read(third)))
            let repeated = try await sample.create([.cy], key: Replay.Key(alias))
            #expect(repeated == .replayed(try await sample.read(third)))
        }
        try await sample.expectSameRowsAgain()
    }

    @Test func `X1.4: metadata is merged by key, and neither version is used again`()
        async throws
    {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true, metadata: ["a": "own", "b": "own"])
            .object.conversation.id
        let late = Metadata(
            writes: [("a", 9_000_000), ("b", 5), ("c", 5)].map { key, moment in
                (
                    path: [key],
                    write: MetadataWrite(.text("other"), at: Timestamp(milliseconds: moment))
                )
            })
        let other = try await sample.addDistinctConversation(7, createdAt: 5, metadata: late)
        let versions = try await [sample.read(own), sample.read(other)].map(\.conversation.version)
        try await sample.reconcile(other)
        let merged = try await sample.read(own).conversation
        #expect(merged.metadata.view == ["a": "other", "b": "own", "c": "other"])
        #expect(merged.version > versions.max() ?? 0)
    }

    @Test func `X1.3: contents, uploads, schedules and keys of the loser are the winner's`()
        async throws
    {
        let sample = try await SampleApplication()
        let other = try await sample.addDistinctConversation(7, createdAt: 5)
        let own = try await sample.create([.ana, .cy], isDistinct: true).object.conversation.id
        let loser = try await sample.addDistinctConversation(8, [.ana, .cy], createdAt: 2_000_000)
        let content = try await sample.upload(1, to: loser).id
        try await sample.schedule("later", to: loser)
        let key: Replay.Key = .sample(30)
        _ = try await sample.store.sendBatch([], to: loser, key: key, in: sample.application)
        try await sample.reconcile(loser)
        #expect(
            try await sample.store.content(content, in: own, in: sample.application).id == content)
        #expect(try await sample.attach(content, to: loser).message.conversation == own)
        let late = try await sample.upload(2, to: loser)
        #expect(
            try await sample.store.content(late.id, in: own, in: sample.application).id == late.id)
        let again = try await sample.store.sendBatch(
            [], to: loser, key: key, in: sample.application)
        #expect(again == .accepted(own))
        sample.wait(milliseconds: 400_000)
        _ = try await sample.store.sendDueMessages { error, _ in Issue.record(error) }
        #expect(try await sample.texts(of: own).first == "later")
        #expect(try await sample.texts(of: other) == [])
        try await sample.expectSameRowsAgain()
    }

    @Test func `X1.5: earlier events show both conversations as before the merge`()
        async throws
    {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true).object.conversation.id
        let other = try await sample.addDistinctConversation(7, createdAt: 2_000_000)
        sample.tick()
        let first = try await sample.send("first", to: other).object.message.id
        sample.tick()
        let second = try await sample.send("second", to: own).object.message.id
        for (message, user) in [(first, UserID.bo), (second, .bo)] {
            try await sample.store.recordReceipt(
                .read, of: message, by: user, in: sample.application)
        }
        try await sample.reconcile(other)
        let range = try await sample.store.webhookEvents(
            after: WebhookCheckpoint(after: .start), to: [.v1_0: [.messageRead]], limit: 10,
            in: sample.application)
        let messages = range.events.compactMap { occurrence -> Message? in
            guard case .message(let snapshot) = occurrence.subject else { return nil }
            return snapshot.message
        }
        #expect(messages.map(\.id) == [first, second])
        #expect(messages.map(\.conversation) == [other, own])
        let page = try await sample.store.eventPage(
            EventLogQuery(.ascending(after: nil), limit: 100), in: sample.application)
        guard case .conversation(let shown) = page.events.last?.object else {
            Issue.record("the last event shows no conversation")
            return
        }
        let now = try await sample.read(own)
        #expect(shown.participants == now.participants)
        #expect(
            shown.conversation.id == own && shown.conversation.version == now.conversation.version)
        for event in page.events {
            guard case .message(let snapshot) = event.object else { continue }
            #expect(snapshot.recipients.map(\.userID) == [.ana, .bo])
        }
    }

    @Test
    func
        `a proposal that conflicts with other metadata leaves its id and its key unused (rulings 12, 51)`()
        async throws
    {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true, metadata: ["a": "b"]).object
        let kinds = try await sample.kinds {
            let conflict = try await sample.create(
                isDistinct: true, metadata: ["a": "c"], id: .sample(5), key: .sample(6))
            #expect(conflict == .conflict(own))
        }
        #expect(kinds.isEmpty)
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.read(.sample(5))
        }
        let made = try await sample.create([.cy], id: .sample(5), key: .sample(6))
        #expect(made == .created(made.object))
        #expect(made.object.conversation.id == .sample(5))
    }
}

extension SampleApplication {
    /// Records a distinct conversation in addition to the one that its users may have, like an import.
    @discardableResult
    func addDistinctConversation(
        _ number: UInt128, _ users: [UserID] = [.ana, .bo], createdAt moment: Int64,
        metadata: Metadata = Metadata(), isAnnounced: Bool = true, isWide: Bool = false
    ) async throws -> Conversation.ID {
        let id: Conversation.ID = .sample(number)
        let conversation = Conversation(
            id: id, createdAt: Timestamp(milliseconds: moment),
            participants: Participants(users), isWide: isWide, isDistinct: true,
            metadata: metadata, isAnnounced: isAnnounced)
        return try await store.change(in: application) { context in
            if let holder = try context.holder(of: id) { return holder.id }
            try context.record(
                .conversationCreated(ConversationCreated(conversation: conversation)))
            return id
        }
    }

    /// Merges a conversation, and sorts the messages of the winner as an import does.
    ///
    /// - Parameter limit: The maximum number of messages that one transaction moves.
    @discardableResult
    func reconcile(
        _ id: Conversation.ID, sortingAtMost limit: Int = MessagingStore.sortedAtOnce
    ) async throws -> Conversation.ID {
        let winner = try await merge(id)
        try await store.sortMessages(of: winner, in: application, atMost: limit)
        return winner
    }

    /// Merges a conversation without sorting the messages.
    func merge(_ id: Conversation.ID) async throws -> Conversation.ID {
        try await store.change(in: application) { context in try context.reconcile(id) }
    }

    /// What a user sees of a conversation.
    func seen(_ id: Conversation.ID, by user: UserID) async throws -> [MessageSnapshot] {
        try await store.messages(in: id, seenBy: .user(user), limit: 1000, in: application).items
    }
}
