import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Conversations that meet` {
    @Test(arguments: [0, 2_000_000] as [Int64])
    func `X1: their messages stand in the order of sending in the one that was made first`(
        createdAt: Int64
    ) async throws {
        let shop = try await Shop()
        let own = try await shop.create(isDistinct: true).object.conversation.id
        let other = try await shop.bring(7, createdAt: createdAt)
        for (text, home) in [("1", own), ("2", other), ("3", own), ("4", other)] {
            shop.tick()
            try await shop.send(text, to: home)
        }
        let kinds = try await shop.kinds { try await shop.settle(other) }
        #expect(kinds == ["conversation.merged"])
        let (winner, loser) = createdAt == 0 ? (other, own) : (own, other)
        for id in [winner, loser] {
            #expect(try await shop.read(id).conversation.id == winner)
            #expect(try await shop.texts(of: id) == ["4", "3", "2", "1"])
        }
        try await shop.send("5", to: loser)
        #expect(try await shop.texts(of: winner) == ["5", "4", "3", "2", "1"])
        let before = try await shop.rows()
        #expect(try await shop.settle(loser) == winner)
        #expect(try await shop.bring(7, createdAt: createdAt) == winner)
        #expect(try await shop.rows() == before)
        #expect(try await shop.create(isDistinct: true).object.conversation.id == winner)
        try await shop.expectSameRowsAgain()
    }

    @Test func `X1: what comes alone is the distinct one, and what is settled stays as it is`()
        async throws
    {
        let shop = try await Shop()
        let only = try await shop.bring(7, createdAt: 5)
        #expect(try await shop.create(isDistinct: true).object.conversation.id == only)
        let before = try await shop.rows()
        try await shop.settle(only)
        #expect(try await shop.rows() == before)
    }

    @Test func `R18: what came beside one that is deleted meanwhile takes its place`() async throws
    {
        let shop = try await Shop()
        let own = try await shop.create(isDistinct: true).object.conversation.id
        let other = try await shop.bring(7, createdAt: 5)
        try await shop.send(to: other)
        try await shop.store.deleteConversation(own, in: shop.application)
        let kinds = try await shop.kinds { try await shop.settle(other) }
        #expect(kinds == ["conversation.merged"])
        #expect(try await shop.create(isDistinct: true).object.conversation.id == other)
        await #expect(throws: Rejection.objectDeleted) { try await shop.read(own) }
        try await shop.expectSameRowsAgain()
    }

    @Test func `R5: one whose participants were changed meanwhile meets nobody`() async throws {
        let shop = try await Shop()
        let own = try await shop.create(isDistinct: true).object.conversation.id
        let other = try await shop.bring(7, createdAt: 5)
        try await shop.patch(other, .addParticipant(.cy))
        try await shop.patch(other, .removeParticipant(.cy))
        let kinds = try await shop.kinds { try await shop.settle(other) }
        #expect(kinds.isEmpty)
        #expect(try await shop.create(isDistinct: true).object.conversation.id == own)
        #expect(try await shop.read(other).conversation.id == other)
    }

    @Test func `X1.2: an alias of an alias leads to the last winner, and is never given out`()
        async throws
    {
        let shop = try await Shop()
        let first: Conversation.ID = .sample(21)
        let own = try await shop.create(isDistinct: true).object.conversation.id
        try await shop.create(isDistinct: true, id: first)
        let second = try await shop.settle(try await shop.bring(8, createdAt: 500))
        let third = try await shop.settle(try await shop.bring(9, createdAt: 400))
        #expect(second == .sample(8) && third == .sample(9))
        for alias in [first, own, second] {
            #expect(try await shop.read(alias).conversation.id == third)
            let taken = try await shop.create([.cy], id: alias)
            #expect(taken == .idInUse(try await shop.read(third)))
            let repeated = try await shop.create([.cy], key: Replay.Key(alias))
            #expect(repeated == .replayed(try await shop.read(third)))
        }
        try await shop.expectSameRowsAgain()
    }

    @Test func `X1.4: metadata merges key by key, and the version of neither comes again`()
        async throws
    {
        let shop = try await Shop()
        let own = try await shop.create(isDistinct: true, metadata: ["a": "own", "b": "own"])
            .object.conversation.id
        let late = Metadata(
            writes: [("a", 9_000_000), ("b", 5), ("c", 5)].map { key, moment in
                (
                    path: [key],
                    write: MetadataWrite(.text("other"), at: Timestamp(milliseconds: moment))
                )
            })
        let other = try await shop.bring(7, createdAt: 5, metadata: late)
        let versions = try await [shop.read(own), shop.read(other)].map(\.conversation.version)
        try await shop.settle(other)
        let merged = try await shop.read(own).conversation
        #expect(merged.metadata.view == ["a": "other", "b": "own", "c": "other"])
        #expect(merged.version > versions.max() ?? 0)
    }

    @Test func `X1.3: contents, uploads, schedules and keys of the loser are the winner's`()
        async throws
    {
        let shop = try await Shop()
        let other = try await shop.bring(7, createdAt: 5)
        let own = try await shop.create([.ana, .cy], isDistinct: true).object.conversation.id
        let loser = try await shop.bring(8, [.ana, .cy], createdAt: 2_000_000)
        let content = try await shop.upload(1, to: loser).id
        try await shop.schedule("later", to: loser)
        let key: Replay.Key = .sample(30)
        _ = try await shop.store.sendBatch([], to: loser, key: key, in: shop.application)
        try await shop.settle(loser)
        #expect(try await shop.store.content(content, in: own, in: shop.application).id == content)
        #expect(try await shop.attach(content, to: loser).message.conversation == own)
        let late = try await shop.upload(2, to: loser)
        #expect(try await shop.store.content(late.id, in: own, in: shop.application).id == late.id)
        let again = try await shop.store.sendBatch(
            [], to: loser, key: key, in: shop.application)
        #expect(again == .accepted(own))
        shop.wait(milliseconds: 400_000)
        _ = try await shop.store.sendDueMessages { error, _ in Issue.record(error) }
        #expect(try await shop.texts(of: own).first == "later")
        #expect(try await shop.texts(of: other) == [])
        try await shop.expectSameRowsAgain()
    }

    @Test func `X1.5: readers of the log are shown both as they were before they met`()
        async throws
    {
        let shop = try await Shop()
        let own = try await shop.create(isDistinct: true).object.conversation.id
        let other = try await shop.bring(7, createdAt: 2_000_000)
        shop.tick()
        let first = try await shop.send("first", to: other).object.message.id
        shop.tick()
        let second = try await shop.send("second", to: own).object.message.id
        for (message, user) in [(first, UserID.bo), (second, .bo)] {
            try await shop.store.recordReceipt(.read, of: message, by: user, in: shop.application)
        }
        try await shop.settle(other)
        let stretch = try await shop.store.told(
            after: TellingPlace(after: .start), to: [.v1_0: [.messageRead]], limit: 10,
            in: shop.application)
        let told = stretch.events.compactMap { occurrence -> Message? in
            guard case .message(let snapshot) = occurrence.subject else { return nil }
            return snapshot.message
        }
        #expect(told.map(\.id) == [first, second])
        #expect(told.map(\.conversation) == [other, own])
        let page = try await shop.store.eventPage(after: nil, limit: 100, in: shop.application)
        guard case .conversation(let shown) = page.events.last?.object else {
            Issue.record("the last event shows no conversation")
            return
        }
        let now = try await shop.read(own)
        #expect(shown.participants == now.participants)
        #expect(
            shown.conversation.id == own && shown.conversation.version == now.conversation.version)
        for event in page.events {
            guard case .message(let snapshot) = event.object else { continue }
            #expect(snapshot.recipients.map(\.userID) == [.ana, .bo])
        }
    }

    @Test
    func `a proposal that meets other metadata leaves its id and its key free (rulings 12, 51)`()
        async throws
    {
        let shop = try await Shop()
        let own = try await shop.create(isDistinct: true, metadata: ["a": "b"]).object
        let kinds = try await shop.kinds {
            let conflict = try await shop.create(
                isDistinct: true, metadata: ["a": "c"], id: .sample(5), key: .sample(6))
            #expect(conflict == .conflict(own))
        }
        #expect(kinds.isEmpty)
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await shop.read(.sample(5))
        }
        let made = try await shop.create([.cy], id: .sample(5), key: .sample(6))
        #expect(made == .created(made.object))
        #expect(made.object.conversation.id == .sample(5))
    }
}
