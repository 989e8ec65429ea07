import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// Reads the log event by event as it grows, and again after many changes (ruling 27).
@Suite struct `Events show objects as of the event` {
    @Test(arguments: TestRounds.seeds(2, of: 6), [100, 3])
    func `a random history reads the same after later changes`(
        seed: UInt64, wideAbove limit: Int
    ) async throws {
        var run = try await ModelRun(seed: seed, wideAbove: limit)
        var reader = LogReader(run.sample)
        for number in 1...250 {
            try await run.step()
            if number.isMultiple(of: 3) {
                var names = Identity(userID: run.user())
                names[.displayName] = "name \(number)"
                try await run.store.replaceIdentity(names, in: run.application)
            }
            try await reader.readNew()
        }
        try await reader.expectSameAgain("seed \(seed)")
    }

    @Test func `names, metadata, participants, parts and receipts are as of the event`()
        async throws
    {
        let sample = try await SampleApplication()
        var reader = LogReader(sample)
        try await sample.setName(of: .ana, "Ana")
        let conversation = try await sample.conversation([.ana, .bo], metadata: ["a": "0"])
        let message = try await sample.send("first", by: .ana, to: conversation).object.message.id
        try await reader.readNew()
        for number in 1...5 {
            try await sample.patch(conversation, .setMetadata(path: ["a"], .text("\(number)")))
            try await sample.patch(
                conversation,
                number.isMultiple(of: 2) ? .removeParticipant(.cy) : .addParticipant(.cy))
            try await sample.setName(of: .ana, "Ana \(number)")
            _ = try await sample.store.addPart(
                .text("part \(number)"), to: message, in: conversation, by: .system,
                in: sample.application)
            try await sample.send("and \(number)", by: .ana, to: conversation)
            try await sample.store.recordReceipts(
                number.isMultiple(of: 2) ? .read : .delivery, of: IntervalSet(1...Int64(number)),
                by: .bo, in: conversation, in: sample.application)
            try await reader.readNew()
        }
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        try await sample.store.deleteIdentity(of: .ana, in: sample.application)
        try await reader.readNew()
        try await sample.store.deleteConversation(conversation, in: sample.application)
        try await reader.readNew()
        try await reader.expectSameAgain("one conversation")

        let names = reader.shown.compactMap { shown in
            if case .message(let message) = shown.object {
                message.sender?.displayName
            } else {
                nil
            }
        }
        #expect(Set(names) == ["Ana", "Ana 1", "Ana 2", "Ana 3", "Ana 4", "Ana 5"])
        let topics = reader.shown.compactMap { shown -> String? in
            guard case .metadataChanged = shown.recorded.event,
                case .conversation(let found) = shown.object
            else { return nil }
            return "\(found.conversation.metadata.view)"
        }
        #expect(Set(topics).count == 5)
    }

    @Test func `conversations that were merged later are as of the event (X1)`() async throws {
        let sample = try await SampleApplication()
        let other = try await SampleApplication(opening: sample.application)
        other.wait(milliseconds: 5)
        let here = try await sample.create(isDistinct: true, metadata: ["a": "b"])
            .object.conversation.id
        let there = try await other.create(isDistinct: true).object.conversation.id
        var reader = LogReader(sample)
        for text in ["1", "2", "3"] {
            let sent = try await sample.send("here \(text)", by: .ana, to: here).object.message
            sample.wait(milliseconds: 4)
            try await other.send("there \(text)", by: .bo, to: there)
            other.wait(milliseconds: 4)
            try await sample.store.recordReceipt(
                .read, of: sent.id, by: .bo, in: sample.application)
            try await reader.readNew()
        }
        _ = try await sample.store.addPart(
            .text("more"), to: try await sample.ids(of: here)[1], in: here, by: .system,
            in: sample.application)
        try await reader.readNew()
        try await sample.importLines(try await other.exportedLines())
        try await reader.readNew()
        let winner = try await sample.read(here).conversation.id
        try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...100), by: .ana, in: winner, in: sample.application)
        try await reader.readNew()
        try await sample.store.deleteMessage(
            try await sample.ids(of: winner)[0], in: nil, in: sample.application)
        try await reader.readNew()
        try await reader.expectSameAgain("merged")
        #expect(
            reader.shown.contains { shown in
                if case .conversationMerged = shown.recorded.event { true } else { false }
            })
    }

    @Test(arguments: TestRounds.seeds(1, of: 4), [100, 3])
    func `a read as of a position returns the same as at that time`(
        seed: UInt64, wideAbove limit: Int
    ) async throws {
        var run = try await ModelRun(seed: seed, wideAbove: limit)
        var moments: [Moment] = []
        for number in 1...200 {
            try await run.step()
            if number.isMultiple(of: 4) {
                moments.append(try await Moment(run, asOf: nil))
            }
        }
        #expect(moments.contains { moment in moment.seen.values.contains { $0.count > 3 } })
        for moment in moments {
            let again = try await Moment(run, asOf: moment.position)
            #expect(again.conversations == moment.conversations, "seed \(seed)")
            #expect(again.messages == moment.messages, "seed \(seed)")
            #expect(again.views == moment.views, "seed \(seed)")
            #expect(again.seen == moment.seen, "seed \(seed)")
        }
    }

    @Test(arguments: [true, false])
    func `a hidden message stays hidden in reads as of a time before its deletion (rulings 20, 27)`(
        byBlock: Bool
    ) async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo, .cy])
        if byBlock { try await sample.patch(.bo, .block(.ana)) }
        let hidden = try await sample.send("hidden", by: .ana, to: conversation).object.message.id
        try await sample.send("shown", by: .cy, to: conversation)
        if !byBlock {
            try await sample.store.deleteMessage(
                hidden, forAll: false, by: .bo, in: sample.application)
        }
        let position = try await sample.end()
        func seen() async throws -> [String] {
            try await sample.store.messages(
                in: conversation, asOf: position, seenBy: .user(.bo), limit: 10,
                in: sample.application
            ).items.map(\.text)
        }
        #expect(try await seen() == ["shown"])
        try await sample.store.deleteMessage(hidden, in: nil, in: sample.application)
        #expect(try await seen() == ["shown"])
        try await sample.store.deleteConversation(conversation, in: sample.application)
        #expect(try await seen() == ["shown"])
    }

    @Test func `reads as of a position that the log does not hold are refused`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let created = try await sample.end()
        try await sample.send(to: conversation)
        let end = try await sample.end()
        func read(_ number: Int64) async throws -> Int64? {
            try await sample.store.messages(
                in: conversation, asOf: LogPosition(number), limit: 10, in: sample.application
            ).total
        }
        #expect(try await read(created.number) == 0)
        #expect(try await read(end.number) == 1)
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await read(created.number - 1)
        }
        let beyond = Rejection.invalid(
            "as_of", .logPositionBeyondEnd, .init(amount: Int(end.number)))
        await #expect(throws: beyond) { try await read(end.number + 1) }
        await #expect(throws: beyond) { try await read(.max) }
        try await sample.store.trimLogs(before: sample.tick())
        await #expect(throws: Rejection.positionGone(oldest: LogPosition(end.number + 1))) {
            try await read(created.number)
        }
        #expect(try await read(end.number) == 1)
    }

    @Test func `a receipt becomes one webhook event per message, over several pages`() async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        for number in 1...7 { try await sample.send("\(number)", by: .ana, to: conversation) }
        let start = try await sample.end()
        try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...7), by: .bo, in: conversation, in: sample.application)
        let ids = try await sample.ids(of: conversation)
        try await sample.store.deleteMessage(ids[3], in: nil, in: sample.application)
        var position = WebhookCheckpoint(after: start)
        var webhookEvents: [Message.ID] = []
        for _ in 1...10 {
            let range = try await sample.store.webhookEvents(
                after: position, to: [.v1_0: [.messageRead]], limit: 2, in: sample.application)
            for case .message(let shown) in range.events.map(\.subject) {
                webhookEvents.append(shown.message.id)
            }
            position = range.next
            if !range.isCut { break }
        }
        #expect(webhookEvents == ids)
    }

    @Test func `a page of large conversations ends at its limit of bytes`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        for number in 1...100 {
            let text = String(repeating: "x", count: 2048)
            try await sample.patch(conversation, .setMetadata(path: ["key\(number)"], .text(text)))
        }
        let start = try await sample.end()
        for number in 1...40 {
            try await sample.patch(conversation, .setMetadata(path: ["n"], .text("\(number)")))
        }
        let page = try await sample.store.eventPage(
            EventLogQuery(.ascending(after: start), limit: 100), in: sample.application)
        #expect(page.isCut)
        #expect((1..<40).contains(page.events.count))
        #expect(page.through == page.events.last?.recorded.position)
        // In the other order it has the newest ones.
        let newest = try await sample.store.eventPage(
            EventLogQuery(.descending(before: nil), limit: 100), in: sample.application)
        let end = try await sample.end()
        #expect(newest.isCut && (1..<40).contains(newest.events.count))
        #expect(newest.events.first?.recorded.position == end)
        #expect(newest.through == newest.events.last?.recorded.position)
    }
}

/// All conversations and messages at one position, as seen by the system and by each user.
private struct Moment {
    let position: LogPosition
    var conversations: [Conversation.ID: ConversationSnapshot] = [:]
    var messages: [Conversation.ID: [MessageSnapshot]] = [:]
    var views: [String: ConversationView] = [:]
    var seen: [String: [MessageSnapshot]] = [:]

    /// - Parameter requested: The position to read as of; `nil` for now.
    init(_ run: ModelRun, asOf requested: LogPosition?) async throws {
        let (store, application) = (run.store, run.application)
        position = try await run.sample.end()
        for conversation in run.model.conversations {
            let id = conversation.id
            conversations[id] = try await ifFound {
                var found: ConversationSnapshot
                if let requested {
                    found = try await store.conversation(id, asOf: requested, in: application)
                } else {
                    found = try await store.conversation(id, in: application)
                }
                // The log stores no states of what messages change in it.
                var conversation = found.conversation
                conversation.lastPosition = .start
                conversation.lastSentAt = nil
                conversation.messageCount = 0
                conversation.isAnnounced = true
                return ConversationSnapshot(
                    conversation: conversation, participants: found.participants)
            }
            messages[id] = try await ifFound {
                if let requested {
                    try await store.messages(
                        in: id, asOf: requested, limit: 1000, in: application
                    ).items
                } else {
                    try await store.messages(in: id, limit: 1000, in: application).items
                }
            }
            for user in run.users {
                views["\(id) \(user.text)"] = try await ifFound {
                    if let requested {
                        try await store.conversation(
                            id, asOf: requested, seenBy: user, in: application)
                    } else {
                        try await store.conversation(id, seenBy: user, in: application)
                    }
                }
                seen["\(id) \(user.text)"] = try await ifFound {
                    if let requested {
                        try await store.messages(
                            in: id, asOf: requested, seenBy: .user(user), limit: 1000,
                            in: application
                        ).items
                    } else {
                        try await store.messages(
                            in: id, seenBy: .user(user), limit: 1000, in: application
                        ).items
                    }
                }
            }
        }
    }

    /// The result, or `nil` when it is not found.
    private func ifFound<Value>(_ read: () async throws -> Value) async throws -> Value? {
        do {
            return try await read()
        } catch is Rejection {
            return nil
        }
    }
}

/// A reader that reads each event at once, and records the result.
private struct LogReader {
    let sample: SampleApplication
    var shown: [ResolvedEvent] = []
    var webhookEvents: [WebhookEvent] = []
    private var position = LogPosition.start

    init(_ sample: SampleApplication) { self.sample = sample }

    mutating func readNew() async throws {
        let end = try await sample.end()
        while position < end {
            // One event at a time, before its objects can change.
            let next = LogPosition(position.number + 1)
            shown += try await page(after: position, limit: 1).events
            webhookEvents += try await webhookEvents(after: position, through: next)
            position = next
        }
    }

    /// Reads all events again, in pages and in ranges.
    func expectSameAgain(_ what: Comment) async throws {
        var again: [ResolvedEvent] = []
        var last = LogPosition.start
        while last < position {
            let page = try await page(after: last, limit: 50)
            again += page.events
            last = page.through
        }
        #expect(again.map(\.recorded) == shown.map(\.recorded), what)
        for (now, before) in zip(again, shown) {
            #expect(now.id == before.id && now.object == before.object, what)
        }
        let repeatedEvents = try await webhookEvents(after: .start, through: position)
        #expect(repeatedEvents.map(\.id) == webhookEvents.map(\.id), what)
        for (now, before) in zip(repeatedEvents, webhookEvents) {
            #expect(
                now.subject == before.subject && now.actor == before.actor
                    && now.versions == before.versions, what)
        }
    }

    private func page(after position: LogPosition, limit: Int) async throws -> EventPage {
        try await sample.store.eventPage(
            EventLogQuery(.ascending(after: position), limit: limit), in: sample.application)
    }

    private func webhookEvents(
        after start: LogPosition, through end: LogPosition
    ) async throws -> [WebhookEvent] {
        let all = Dictionary(
            uniqueKeysWithValues: WebhookVersion.allCases.map {
                ($0, Set(WebhookTopic.all(in: $0)))
            })
        var webhookEvents: [WebhookEvent] = []
        var position = WebhookCheckpoint(after: start)
        while position.after < end {
            let range = try await sample.store.webhookEvents(
                after: position, through: end, to: all, limit: 20, in: sample.application)
            webhookEvents += range.events
            position = range.next
        }
        return webhookEvents
    }
}

extension SampleApplication {
    fileprivate func setName(of user: UserID, _ name: String) async throws {
        var identity = Identity(userID: user)
        identity[.displayName] = name
        try await store.replaceIdentity(identity, in: application)
    }

    /// The ids of a conversation's messages, oldest first.
    fileprivate func ids(of conversation: Conversation.ID) async throws -> [Message.ID] {
        try await store.messages(in: conversation, limit: 100, in: application)
            .items.reversed().map(\.message.id)
    }
}
