import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Filtered lists` {
    /// All pages of a list, and their totals.
    private func pages<Item>(
        _ read: (_ after: Item?) async throws -> ListPage<Item>
    ) async throws -> (items: [Item], totals: Set<Int64>) {
        var (items, totals): ([Item], Set<Int64>) = ([], [])
        while true {
            let page = try await read(items.last)
            totals.insert(page.total ?? -1)
            guard !page.items.isEmpty else { return (items, totals) }
            items += page.items
        }
    }

    @Test func `contain the conversations that match, paged and counted (X9)`() async throws {
        let sample = try await SampleApplication()
        let topics: [MetadataTree] = [["topic": "rent"], ["topic": "keys"], .empty]
        for number in 0..<540 {
            if number % 3 == 0 { sample.tick() }
            let users: [UserID] = number % 2 == 0 ? [.ana, .bo] : [.ana, .cy, .bo]
            let made = try await sample.create(
                number % 5 == 0 ? [.ana, .named("user-\(number)")] : users,
                isDistinct: number % 5 == 0, metadata: topics[number % 3])
            if number % 7 == 0 { try await sample.send(to: made.object.conversation.id) }
            if number % 11 == 0, number % 5 != 0 {
                try await sample.patch(made.object.conversation.id, .removeParticipant(.ana))
            }
        }
        let middle = Timestamp(milliseconds: 1_000_000 + 90_000)
        let filters: [(inout ConversationFilter) -> Void] = [
            { $0.participants = [.bo] },
            { ($0.participants, $0.isExact) = ([.bo, .ana], true) },
            { $0.isDistinct = true },
            { ($0.metadata, $0.isDistinct) = ([.init(path: ["topic"], value: "keys")], false) },
            { $0.createdAfter = middle },
            { $0.createdBefore = middle },
            { ($0.createdAfter, $0.createdBefore) = (middle, middle.next) },
            { ($0.createdBefore, $0.participants) = (middle, [.cy]) },
            { $0.participants = [.named("unknown")] },
        ]
        for order in [ConversationOrder.createdAt, .lastMessage] {
            let all = try await pages { last in
                try await sample.store.conversations(
                    of: .ana, sortedBy: order, after: last?.id, limit: 100, in: sample.application)
            }.items
            for make in filters {
                var filter = ConversationFilter()
                make(&filter)
                let wanted = all.filter { view in
                    filter.holds(
                        Participants(view.participants.map(\.userID)),
                        isDistinct: view.isDistinct, metadata: view.metadata,
                        createdAt: view.createdAt)
                }
                let found = try await pages { last in
                    try await sample.store.conversations(
                        of: .ana, matching: filter, sortedBy: order, after: last?.id, limit: 67,
                        in: sample.application)
                }
                #expect(found.items.map(\.id) == wanted.map(\.id), "\(filter)")
                #expect(found.totals == [Int64(wanted.count)])
            }
        }
    }

    @Test
    func `do not count as unread what the user deleted or never received (R16, R29, R32)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo, .cy])
        func unread(by user: UserID) async throws -> [String] {
            var filter = MessageFilter()
            filter.unreadBy = user
            let page = try await sample.store.messages(
                in: conversation, matching: filter, limit: 100, in: sample.application)
            #expect(page.total == Int64(page.items.count))
            return page.items.map(\.text)
        }
        try await sample.send("one", to: conversation)
        let two = try await sample.send("two", to: conversation).object.message.id
        try await sample.send("three", to: conversation)
        #expect(try await unread(by: .bo) == ["three", "two", "one"])
        try await sample.store.deleteMessage(two, forAll: false, by: .bo, in: sample.application)
        #expect(try await unread(by: .bo) == ["three", "one"])
        #expect(try await unread(by: .cy) == ["three", "two", "one"])
        try await sample.store.deleteConversation(
            conversation, .forMe, by: .bo, in: sample.application)
        #expect(try await unread(by: .bo) == [])
        try await sample.send("four", to: conversation)
        #expect(try await unread(by: .bo) == ["four"])
        try await sample.patch(.cy, .block(.ana))
        try await sample.send("five", to: conversation)
        #expect(try await unread(by: .bo) == ["five", "four"])
        #expect(try await unread(by: .cy) == ["four", "three", "two", "one"])
    }

    @Test func `contain the messages that match, paged and counted (X9)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        for number in 0..<300 {
            if number % 4 == 0 { sample.tick() }
            try await sample.send(
                "text \(number)", by: number % 3 == 0 ? .bo : .ana, to: conversation)
        }
        let all = try await pages { last in
            try await sample.store.messages(
                in: conversation, after: last?.message.id, limit: 100, in: sample.application)
        }.items.map(\.message)
        for message in all where message.position.number % 10 == 0 {
            try await sample.store.deleteMessage(message.id, in: nil, in: sample.application)
        }
        _ = try await sample.store.markAllRead(
            upTo: Position(50), by: .bo, in: conversation, in: sample.application)
        let left = all.filter { message in message.position.number % 10 != 0 }
        let middle = all[150].sentAt
        let filters: [((inout MessageFilter) -> Void, (Message) -> Bool)] = [
            ({ $0.sender = .bo }, { $0.sender.userID == .bo }),
            ({ $0.media = MediaRange("text/*") }, { _ in true }),
            ({ $0.media = MediaRange("image/*") }, { _ in false }),
            ({ $0.transfer = .ready }, { _ in false }),
            ({ $0.sentAfter = middle }, { $0.sentAt > middle }),
            ({ $0.sentBefore = middle }, { $0.sentAt < middle }),
            (
                { ($0.sentBefore, $0.sentAfter) = (middle, all[290].sentAt) },
                { $0.sentAt < middle && $0.sentAt > all[290].sentAt }
            ),
            ({ $0.sentBefore = Timestamp(milliseconds: 0) }, { _ in false }),
            ({ $0.unreadBy = .bo }, { $0.sender.userID != .bo && $0.position.number > 50 }),
            ({ $0.unreadBy = .cy }, { _ in false }),
        ]
        for (make, passes) in filters {
            var filter = MessageFilter()
            make(&filter)
            let wanted = left.filter(passes).map(\.id)
            for user in [nil, UserID.ana] {
                let found = try await pages { last in
                    if let user {
                        try await sample.store.messages(
                            in: conversation, seenBy: .user(user), matching: filter,
                            after: last?.message.id, limit: 67, in: sample.application)
                    } else {
                        try await sample.store.messages(
                            in: conversation, matching: filter, after: last?.message.id,
                            limit: 67, in: sample.application)
                    }
                }
                #expect(found.items.map(\.message.id) == wanted, "\(filter)")
                #expect(found.totals == [Int64(wanted.count)])
            }
        }
    }
}

extension ConversationFilter {
    /// Whether a conversation of these participants matches.
    func holds(
        _ present: Participants, isDistinct: Bool, metadata: MetadataTree, createdAt: Timestamp
    ) -> Bool {
        admits(
            Set(participants).filter(present.contains).count, of: present.count,
            isDistinct: isDistinct, metadata: metadata, createdAt: createdAt)
    }
}
