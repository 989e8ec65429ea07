import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Feeds of users` {
    @Test func `Y1: a first answer is the whole state, and an unchanged one is empty`() async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        for text in ["1", "2", "3"] { try await sample.send(text, to: conversation) }
        let first = try await sample.feed(of: .bo, history: .newest(2))
        #expect(first.isReset)
        #expect(!first.isCut)
        #expect(first.keys.count(where: { $0.hasPrefix("message") }) == 2)
        #expect(first.keys.contains("conversation \(conversation.uuid)"))
        #expect(first.keys.contains("identity ana"))
        #expect(first.keys.contains("identity bo"))
        let shown = try #require(first.conversation(conversation))
        #expect(shown.top == Position(3))
        #expect(shown.windowFrom == Position(2))
        #expect(shown.clearedTo == .start)
        let next = try await sample.feed(of: .bo, after: first.cursor)
        #expect(next.entries.isEmpty)
        #expect(!next.isReset)
        #expect(next.cursor == first.cursor)
    }

    @Test func `Y1: a message is two items for every participant, once`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        var cursor = try await sample.feed(of: .bo).cursor
        let message = try await sample.send(to: conversation).object.message.id
        try await sample.store.recordReceipt(
            .delivery, of: message, by: .bo, in: sample.application)
        let page = try await sample.feed(of: .bo, after: cursor)
        #expect(
            Set(page.keys) == [
                "conversation \(conversation.uuid)", "message \(message.uuid)",
                "receipts \(conversation.uuid) bo",
            ])
        #expect(page.keys.count == 3)
        cursor = page.cursor
        try await sample.store.deleteMessage(
            message, in: conversation, in: sample.application)
        let gone = try await sample.feed(of: .bo, after: cursor)
        #expect(gone.entries.map(\.item).contains(.message(message, nil)))
        #expect(gone.conversation(conversation)?.lastMessage == nil)
    }

    @Test func `Y1, R13: a former participant learns nothing of later changes`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo, .cy])
        let kept = try await sample.send("1", to: conversation).object.message.id
        try await sample.patch(conversation, .removeParticipant(.cy))
        let cursor = try await sample.feed(of: .cy).cursor
        let later = try await sample.send("2", to: conversation).object.message.id
        try await sample.patch(conversation, .setMetadata(path: ["a"], .text("b")))
        try await sample.store.deleteMessage(later, in: conversation, in: sample.application)
        #expect(
            try await sample.feed(of: .cy, after: cursor).keys.allSatisfy { key in
                key.hasPrefix("conversation")
            })
        try await sample.store.deleteMessage(kept, in: conversation, in: sample.application)
        let page = try await sample.feed(of: .cy, after: cursor)
        #expect(page.entries.map(\.item).contains(.message(kept, nil)))
        #expect(!page.keys.contains("message \(later.uuid)"))
    }

    @Test func `Y1, R32: nothing of a blocked user's messages is in the feed`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        try await sample.send(to: conversation)
        try await sample.block(.ana, by: .bo)
        let cursor = try await sample.feed(of: .bo).cursor
        let hidden = try await sample.send(to: conversation).object.message.id
        try await sample.store.changeParts(
            .replace(.index(0), try MessagePart.Draft(mimeType: "a/b", body: .inline([1]))),
            of: hidden, in: nil, by: .system, in: sample.application)
        let page = try await sample.feed(of: .bo, after: cursor)
        #expect(!page.keys.contains { key in key.hasPrefix("message") })
    }

    @Test func `Y1: a device that misses thousands of messages receives each once`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        var ids: [Message.ID] = []
        var device = FeedDevice(of: .bo)
        device.apply(try await sample.feed(of: .bo))
        var middle: FeedCursor?
        // Fewer than all concurrently, so that a middle of the log exists.
        for _ in 0..<13 {
            ids += try await withThrowingTaskGroup(of: Message.ID.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await sample.send(to: conversation).object.message.id
                    }
                }
                return try await group.reduce(into: []) { ids, id in ids.append(id) }
            }
            if ids.count == 800 {
                middle = try await sample.feed(of: .bo, history: .newest(1)).cursor
            }
        }
        for id in [ids[3], ids[700], ids[1500], ids[2500]] {
            try await sample.store.changeParts(
                .replace(.index(0), try MessagePart.Draft(mimeType: "a/b", body: .inline([1]))),
                of: id, in: nil, by: .system, in: sample.application)
        }
        let starts = [(device.cursor, Set(ids)), (middle, Set(ids[800...] + [ids[3], ids[700]]))]
        for (start, expected) in starts {
            var (cursor, received) = (start, [Message.ID]())
            while true {
                let page = try await sample.feed(
                    of: .bo, after: cursor, history: .all, limit: 150)
                for case .message(let id, .some) in page.entries.map(\.item) {
                    received.append(id)
                }
                cursor = page.cursor
                guard page.isCut else { break }
            }
            #expect(received.count == expected.count)
            #expect(Set(received) == expected)
        }
    }

    @Test(arguments: [0, 2_000_000] as [Int64])
    func `Y1, X1: a device that misses a merge and a thousand messages after it has all of them`(
        createdAt: Int64
    ) async throws {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true).object.conversation.id
        let other = try await sample.addDistinctConversation(7, createdAt: createdAt)
        func send(_ count: Int, to conversation: Conversation.ID) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask { _ = try await sample.send(to: conversation) }
                }
                try await group.waitForAll()
            }
        }
        func catchUp(_ device: inout FeedDevice) async throws {
            repeat {
                device.apply(try await sample.feed(of: .bo, after: device.cursor, limit: 150))
            } while !device.isReady
        }
        try await send(600, to: own)
        var devices = [FeedDevice(of: .bo), FeedDevice(of: .bo), FeedDevice(of: .bo)]
        try await catchUp(&devices[0])
        try await send(600, to: other)
        try await catchUp(&devices[1])
        try await sample.reconcile(other)
        try await send(1100, to: own)
        for index in devices.indices { try await catchUp(&devices[index]) }
        for device in devices {
            #expect(device.messages.count == 2300)
            #expect(device.messages == devices[2].messages)
            #expect(
                device.conversations.mapValues(\.top) == devices[2].conversations.mapValues(\.top))
        }
    }

    @Test func `Y1: a deleted conversation comes back with what follows`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        try await sample.send("1", to: conversation)
        let cursor = try await sample.feed(of: .bo).cursor
        try await sample.delete(conversation, .forMe, by: .bo)
        let gone = try await sample.feed(of: .bo, after: cursor)
        #expect(gone.entries.map(\.item) == [.conversation(conversation, nil)])
        let message = try await sample.send("2", to: conversation).object.message.id
        for start in [cursor, gone.cursor] {
            let back = try await sample.feed(of: .bo, after: start)
            #expect(back.conversation(conversation)?.clearedTo == Position(1))
            #expect(back.conversation(conversation)?.windowFrom == Position(2))
            #expect(back.keys.contains("message \(message.uuid)"))
        }
    }

    @Test
    func `Y1: a cursor of another epoch, a later position or a trimmed one begins a snapshot`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        let message = try await sample.send(to: conversation).object.message.id
        let cursor = try await sample.feed(of: .bo).cursor
        let (epoch, end) = (cursor.epoch, cursor.position.number)
        for text in ["0123456789abcdef.1", "\(epoch).\(end + 1)", "\(epoch).\(Int64.max)"] {
            let other = try #require(FeedCursor(text))
            #expect(try await sample.feed(of: .bo, after: other).isReset)
        }
        try await sample.store.deleteMessage(message, in: conversation, in: sample.application)
        #expect(try await !sample.feed(of: .bo, after: cursor).isReset)
        let later = try await sample.feed(of: .bo, after: cursor).cursor
        sample.wait(milliseconds: MessagingStore.feedRetention + 1)
        try await sample.store.trimFeeds(
            before: Timestamp(
                milliseconds: sample.store.environment.now().milliseconds
                    - MessagingStore.feedRetention))
        #expect(try await sample.feed(of: .bo, after: cursor).isReset)
        #expect(try await !sample.feed(of: .bo, after: later).isReset)
        try await sample.store.beginEpoch()
        #expect(try await sample.feed(of: .bo, after: later).isReset)
    }

    @Test func `Y1: a feed continues after a restart`() async throws {
        let folder = TemporaryFolder()
        let first = try await SampleApplication(at: folder.database)
        let conversation = try await first.conversation([.ana, .bo])
        for text in ["1", "2", "3"] { try await first.send(text, to: conversation) }
        var device = FeedDevice(of: .bo)
        device.apply(try await first.feed(of: .bo, limit: 4))
        first.database.close()
        let second = try await SampleApplication(at: folder.database, opening: first.application)
        while !device.isReady {
            let page = try await second.feed(of: .bo, after: device.cursor, limit: 1)
            #expect(!page.isReset)
            device.apply(page)
        }
        #expect(device.messages.count == 3)
    }

    @Test func `Y1: every text of a cursor that another one could be is refused or read`() throws {
        let whole = FeedCursor(
            epoch: "0123456789abcdef", position: LogPosition(12),
            rest: .catchUp(
                FeedCursor.CatchUp(
                    base: LogPosition(3), end: LogPosition(20), history: .newest(7),
                    object: FeedOrder(stage: .receipts, id: [1, 2, 3]))))
        #expect(FeedCursor(whole.text) == whole)
        let snapshots: [FeedCursor.Snapshot.Place] = [
            .identities(after: nil), .identities(after: .ana), .conversations(after: nil),
            .window(
                .init(time: Timestamp(milliseconds: 5), id: [9]), .messages(after: Position(4))),
            .announcements(after: .init(time: Timestamp(milliseconds: 5), id: [9])),
        ]
        for place in snapshots {
            let cursor = FeedCursor(
                epoch: "0123456789abcdef", position: .start,
                rest: .snapshot(
                    FeedCursor.Snapshot(end: LogPosition(9), history: .unread, place: place)))
            #expect(FeedCursor(cursor.text) == cursor)
        }
        var random = SeededGenerator(7)
        for text in [
            "", ".", "1.2", "0123456789abcdef", "0123456789ABCDEF.1", "0123456789abcdef.-1",
        ] {
            #expect(FeedCursor(text) == nil)
        }
        for _ in 0..<2000 {
            let mutated = String(
                decoding: random.mutation(of: Array(whole.text.utf8)), as: UTF8.self)
            guard let read = FeedCursor(mutated) else { continue }
            #expect(FeedCursor(read.text) == read)
        }
    }

    @Test func `Y1: forged cursors read only the user's own feed and never trap`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        let secret = try await sample.conversation([.ana, .cy])
        for target in [conversation, secret] { try await sample.send(to: target) }
        let epoch = try await sample.feed(of: .bo).cursor.epoch
        let numbers: [Int64] = [.min, -1, 0, 1, 3, 1 << 36, 1 << 53, .max]
        let ids: [[UInt8]] = [[], [1], secret.bytes, secret.bytes + [0], secret.bytes + [1, 255]]
        for number in numbers {
            for id in ids {
                let position = LogPosition(number)
                let listed = FeedCursor.Snapshot.Listed(
                    time: Timestamp(milliseconds: number), id: id)
                let rests: [FeedCursor.Rest] = [
                    .catchUp(
                        .init(
                            base: position, end: position, history: .newest(FeedHistory.limit),
                            object: FeedOrder(stage: .window, id: id))),
                    .snapshot(
                        .init(
                            end: LogPosition(2), history: .all,
                            place: .window(listed, .messages(after: Position(number))))),
                    .snapshot(
                        .init(
                            end: LogPosition(2), history: .all,
                            place: .window(listed, .receipts(after: id)))),
                    .snapshot(
                        .init(
                            end: LogPosition(2), history: .all,
                            place: .announcements(after: listed))),
                ]
                for rest in rests {
                    let cursor = FeedCursor(epoch: epoch, position: LogPosition(1), rest: rest)
                    let page = try await sample.feed(of: .bo, after: cursor)
                    #expect(!page.keys.contains { key in key.contains(secret.uuid) })
                }
            }
        }
    }

    @Test func `Y1: the activity of a deleted conversation names only its users`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        try await sample.send(to: conversation)
        try await sample.conversation([.cy, .named("dee")])
        let start = try await sample.end()
        try await sample.store.deleteConversation(conversation, in: sample.application)
        let readers = Dictionary(
            uniqueKeysWithValues: [UserID.ana, .bo, .cy, .named("dee")].map { user in
                (user, [FeedActivity.Interest.changes] as Set)
            })
        let found = try await sample.store.feedActivity(
            after: start, among: readers, in: sample.application)
        #expect(found?.users == [.ana, .bo])
    }

    @Test
    func
        `5_6: a replay reads no messages and receipts of conversations that the user does not see`()
        async throws
    {
        let sample = try await SampleApplication()
        let start = try await sample.end()
        var expected = 0
        for participants in [[UserID.ana, .bo], [.ana, .cy]] {
            let conversation = try await sample.conversation(participants)
            let message = try await sample.send(to: conversation).object.message.id
            try await sample.store.recordReceipt(
                .read, of: message, by: participants[1], in: sample.application)
            if participants.contains(.bo) { expected += 2 }
        }
        let (application, end) = (sample.application, try await sample.end())
        let read = try await sample.database.read { transaction in
            try transaction.events(
                after: start, through: end, concerning: .bo, limit: 100, in: application
            ).items
        }
        let found = read.filter { recorded in
            switch recorded.event {
            case .messageSent, .receiptsRecorded: true
            default: false
            }
        }
        #expect(found.count == expected)
        #expect(read.count < Int(end.number - start.number))
        let changes = try await sample.store.changes(of: .bo, after: start, in: application)
        #expect(
            changes.changes.contains { change in
                change.operations.contains { operation in
                    if case .messageCreated = operation { true } else { false }
                }
            })
    }

    @Test func `Y1: the activity of events names the users that see a change`() async throws {
        let sample = try await SampleApplication()
        let everyone: [UserID: Set<FeedActivity.Interest>] = [.ana: [], .bo: [], .cy: []]
        let conversation = try await sample.conversation([.ana, .bo])
        func users(_ act: () async throws -> Void) async throws -> Set<UserID>? {
            let before = try await sample.end()
            try await act()
            return try await sample.store.feedActivity(
                after: before, among: everyone, in: sample.application)?.users
        }
        #expect(try await users { try await sample.send(to: conversation) } == [.ana, .bo])
        #expect(
            try await users { try await sample.delete(conversation, .forMe, by: .bo) } == [.bo])
        // bo does not see the conversation any more, but still takes part, and so follows cy.
        #expect(
            try await users { try await sample.patch(conversation, .addParticipant(.cy)) }
                == [.ana, .bo, .cy])
        #expect(
            try await users {
                try await sample.store.replaceIdentity(
                    Identity(userID: .cy), in: sample.application)
            } == [.ana, .bo, .cy])
        #expect(try await users {} == nil)
    }

    @Test(arguments: [true, false])
    func `ruling 38: receipts of others in wide conversations are told of later`(
        isWide: Bool
    ) async throws {
        var limits = MessagingLimits()
        limits.wideConversation = isWide ? 2 : 3
        let sample = try await SampleApplication(limits: limits)
        let conversation = try await sample.conversation([.ana, .bo, .cy])
        try await sample.send(to: conversation)
        let before = try await sample.end()
        _ = try await sample.store.markAllRead(
            upTo: nil, by: .bo, in: conversation, in: sample.application)
        let found = try await sample.store.feedActivity(
            after: before, among: [.ana: [], .bo: [], .cy: []], in: sample.application)
        #expect(found?.users == (isWide ? [.bo] : [.ana, .bo, .cy]))
        #expect(found?.later == (isWide ? [.ana, .cy] : []))
    }
}

extension SampleApplication {
    func feed(
        of user: UserID, after cursor: FeedCursor? = nil, history: FeedHistory = .all,
        limit: Int = 1000
    ) async throws -> FeedPage {
        try await store.feed(
            of: user, after: cursor, history: history, limit: limit, in: application)
    }
}

extension FeedPage {
    /// The keys of the entries.
    fileprivate var keys: [String] { entries.map(\.item.key) }

    fileprivate func conversation(_ id: Conversation.ID) -> FeedConversation? {
        for case .conversation(id, let conversation) in entries.map(\.item) { return conversation }
        return nil
    }
}
