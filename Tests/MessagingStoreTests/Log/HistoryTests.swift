import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// Reads the log event by event as it grows, and once more when much has changed since (rulings 27).
@Suite struct `Events show objects as they were` {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `a random history reads the same later`(seed: UInt64) async throws {
        var life = try await ModelLife(seed: seed)
        var reader = LogReader(life.sample)
        for number in 1...250 {
            try await life.step()
            if number.isMultiple(of: 3) {
                var names = Identity(userID: life.user())
                names[.displayName] = "name \(number)"
                try await life.store.replaceIdentity(names, in: life.application)
            }
            try await reader.readNew()
        }
        try await reader.expectSameAgain("seed \(seed)")
    }

    @Test func `names, metadata, participants, parts and receipts`() async throws {
        let sample = try await SampleApplication()
        var reader = LogReader(sample)
        try await sample.call(.ana, "Ana")
        let talk = try await sample.conversation([.ana, .bo], metadata: ["a": "0"])
        let message = try await sample.send("first", by: .ana, to: talk).object.message.id
        try await reader.readNew()
        for number in 1...5 {
            try await sample.patch(talk, .setMetadata(path: ["a"], .text("\(number)")))
            try await sample.patch(
                talk, number.isMultiple(of: 2) ? .removeParticipant(.cy) : .addParticipant(.cy))
            try await sample.call(.ana, "Ana \(number)")
            _ = try await sample.store.addPart(
                .text("part \(number)"), to: message, in: talk, by: .system, in: sample.application)
            try await sample.send("and \(number)", by: .ana, to: talk)
            try await sample.store.recordReceipts(
                number.isMultiple(of: 2) ? .read : .delivery, of: IntervalSet(1...Int64(number)),
                by: .bo, in: talk, in: sample.application)
            try await reader.readNew()
        }
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        try await sample.store.deleteIdentity(of: .ana, in: sample.application)
        try await reader.readNew()
        try await sample.store.deleteConversation(talk, in: sample.application)
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

    @Test func `conversations before they became one (X1)`() async throws {
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
        try await sample.take(try await other.lines())
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

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `reads as of a position answer what was answered then`(seed: UInt64) async throws {
        var life = try await ModelLife(seed: seed)
        var moments: [Moment] = []
        for number in 1...200 {
            try await life.step()
            if number.isMultiple(of: 4) {
                moments.append(try await Moment(life, asOf: nil))
            }
        }
        #expect(moments.contains { moment in moment.seen.values.contains { $0.count > 3 } })
        for moment in moments {
            let again = try await Moment(life, asOf: moment.position)
            #expect(again.conversations == moment.conversations, "seed \(seed)")
            #expect(again.messages == moment.messages, "seed \(seed)")
            #expect(again.views == moment.views, "seed \(seed)")
            #expect(again.seen == moment.seen, "seed \(seed)")
        }
    }

    @Test(arguments: [true, false])
    func `a hidden message stays hidden as of then when it is deleted later (rulings 20, 27)`(
        byBlock: Bool
    ) async throws {
        let sample = try await SampleApplication()
        let talk = try await sample.conversation([.ana, .bo, .cy])
        if byBlock { try await sample.patch(.bo, .block(.ana)) }
        let hidden = try await sample.send("hidden", by: .ana, to: talk).object.message.id
        try await sample.send("shown", by: .cy, to: talk)
        if !byBlock {
            try await sample.store.deleteMessage(
                hidden, forAll: false, by: .bo, in: sample.application)
        }
        let position = try await sample.end()
        func seen() async throws -> [String] {
            try await sample.store.messages(
                in: talk, asOf: position, seenBy: .user(.bo), limit: 10, in: sample.application
            ).items.map(\.text)
        }
        #expect(try await seen() == ["shown"])
        try await sample.store.deleteMessage(hidden, in: nil, in: sample.application)
        #expect(try await seen() == ["shown"])
        try await sample.store.deleteConversation(talk, in: sample.application)
        #expect(try await seen() == ["shown"])
    }

    @Test func `reads as of a position that the log does not hold are refused`() async throws {
        let sample = try await SampleApplication()
        let talk = try await sample.conversation()
        let created = try await sample.end()
        try await sample.send(to: talk)
        let end = try await sample.end()
        func read(_ number: Int64) async throws -> Int64 {
            try await sample.store.messages(
                in: talk, asOf: LogPosition(number), limit: 10, in: sample.application
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

    @Test func `a receipt is delivered message by message over several pages`() async throws {
        let sample = try await SampleApplication()
        let talk = try await sample.conversation([.ana, .bo])
        for number in 1...7 { try await sample.send("\(number)", by: .ana, to: talk) }
        let start = try await sample.end()
        try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...7), by: .bo, in: talk, in: sample.application)
        let ids = try await sample.ids(of: talk)
        try await sample.store.deleteMessage(ids[3], in: nil, in: sample.application)
        var place = WebhookCheckpoint(after: start)
        var told: [Message.ID] = []
        for _ in 1...10 {
            let stretch = try await sample.store.webhookEvents(
                after: place, to: [.v1_0: [.messageRead]], limit: 2, in: sample.application)
            for case .message(let shown) in stretch.events.map(\.subject) {
                told.append(shown.message.id)
            }
            place = stretch.next
            if !stretch.isCut { break }
        }
        #expect(told == ids)
    }

    @Test func `a page of large conversations ends before it fills the memory`() async throws {
        let sample = try await SampleApplication()
        let talk = try await sample.conversation([.ana, .bo])
        for number in 1...100 {
            let text = String(repeating: "x", count: 2048)
            try await sample.patch(talk, .setMetadata(path: ["key\(number)"], .text(text)))
        }
        let start = try await sample.end()
        for number in 1...40 {
            try await sample.patch(talk, .setMetadata(path: ["n"], .text("\(number)")))
        }
        let page = try await sample.store.eventPage(
            after: start, limit: 100, in: sample.application)
        #expect(page.isCut)
        #expect((1..<40).contains(page.events.count))
        #expect(page.through == page.events.last?.recorded.position)
    }
}

/// What all that was ever there shows at one moment, to the system and to each user.
private struct Moment {
    let position: LogPosition
    var conversations: [Conversation.ID: ConversationSnapshot] = [:]
    var messages: [Conversation.ID: [MessageSnapshot]] = [:]
    var views: [String: ConversationView] = [:]
    var seen: [String: [MessageSnapshot]] = [:]

    /// - Parameter asked: Read as of this position; `nil` for now.
    init(_ life: ModelLife, asOf asked: LogPosition?) async throws {
        let (store, application) = (life.store, life.application)
        position = try await life.sample.end()
        for talk in life.model.talks {
            let id = talk.id
            conversations[id] = try await there {
                var found: ConversationSnapshot
                if let asked {
                    found = try await store.conversation(id, asOf: asked, in: application)
                } else {
                    found = try await store.conversation(id, in: application)
                }
                // No state is stored of what messages change in it.
                var conversation = found.conversation
                conversation.lastPosition = .start
                conversation.lastSentAt = nil
                conversation.messageCount = 0
                conversation.isAnnounced = true
                return ConversationSnapshot(
                    conversation: conversation, participants: found.participants)
            }
            messages[id] = try await there {
                if let asked {
                    try await store.messages(
                        in: id, asOf: asked, limit: 1000, in: application
                    ).items
                } else {
                    try await store.messages(in: id, limit: 1000, in: application).items
                }
            }
            for user in life.users {
                views["\(id) \(user.text)"] = try await there {
                    if let asked {
                        try await store.conversation(
                            id, asOf: asked, seenBy: user, in: application)
                    } else {
                        try await store.conversation(id, seenBy: user, in: application)
                    }
                }
                seen["\(id) \(user.text)"] = try await there {
                    if let asked {
                        try await store.messages(
                            in: id, asOf: asked, seenBy: .user(user), limit: 1000, in: application
                        ).items
                    } else {
                        try await store.messages(
                            in: id, seenBy: user, limit: 1000, in: application
                        ).items
                    }
                }
            }
        }
    }

    /// `nil` for what is not there.
    private func there<Value>(_ read: () async throws -> Value) async throws -> Value? {
        do {
            return try await read()
        } catch is Rejection {
            return nil
        }
    }
}

/// A reader that follows the log closely, and remembers what it was shown.
private struct LogReader {
    let sample: SampleApplication
    var shown: [ResolvedEvent] = []
    var told: [WebhookEvent] = []
    private var place = LogPosition.start

    init(_ sample: SampleApplication) { self.sample = sample }

    mutating func readNew() async throws {
        let end = try await sample.end()
        while place < end {
            // One event at a time: what it shows cannot have changed yet.
            let next = LogPosition(place.number + 1)
            shown += try await page(after: place, limit: 1).events
            told += try await told(after: place, through: next)
            place = next
        }
    }

    /// Reads all again, in pages and in stretches.
    func expectSameAgain(_ what: Comment) async throws {
        var again: [ResolvedEvent] = []
        var last = LogPosition.start
        while last < place {
            let page = try await page(after: last, limit: 50)
            again += page.events
            last = page.through
        }
        #expect(again.map(\.recorded) == shown.map(\.recorded), what)
        for (now, before) in zip(again, shown) {
            #expect(now.id == before.id && now.object == before.object, what)
        }
        let heard = try await told(after: .start, through: place)
        #expect(heard.map(\.id) == told.map(\.id), what)
        for (now, before) in zip(heard, told) {
            #expect(
                now.subject == before.subject && now.actor == before.actor
                    && now.versions == before.versions, what)
        }
    }

    private func page(after place: LogPosition, limit: Int) async throws -> EventPage {
        try await sample.store.eventPage(after: place, limit: limit, in: sample.application)
    }

    private func told(
        after start: LogPosition, through end: LogPosition
    ) async throws -> [WebhookEvent] {
        let all = Dictionary(
            uniqueKeysWithValues: WebhookVersion.allCases.map {
                ($0, Set(WebhookTopic.all(in: $0)))
            })
        var told: [WebhookEvent] = []
        var place = WebhookCheckpoint(after: start)
        while place.after < end {
            let stretch = try await sample.store.webhookEvents(
                after: place, through: end, to: all, limit: 20, in: sample.application)
            told += stretch.events
            place = stretch.next
        }
        return told
    }
}

extension SampleApplication {
    fileprivate func call(_ user: UserID, _ name: String) async throws {
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
