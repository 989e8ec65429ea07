import Messaging
import SQL
import Testing

@testable import MessagingStore

/// Conversations with more participants than a limit (rulings 38, 39).
@Suite struct `Wide conversations` {
    private static func limits(wide: Int = 100) -> MessagingLimits {
        var limits = MessagingLimits()
        limits.participants = 100_000
        limits.wideConversation = wide
        return limits
    }

    private static func users(_ numbers: ClosedRange<Int>) -> [UserID] {
        numbers.map { number in .named("user\(number)") }
    }

    @Test(.enabled(if: onSQLite))
    func
        `sending changes as many rows as in a conversation of two, whatever the number of participants`()
        async throws
    {
        let sample = try await SampleApplication(limits: Self.limits())
        let narrow = try await sample.conversation([.ana, .bo])
        let wide = try await sample.conversation([.ana, .bo] + Self.users(1...3000))
        var changes: [Int64] = []
        for id in [narrow, wide] {
            try await sample.send(by: .ana, to: id)
            let before = try await sample.changes()
            for sender in [UserID.ana, .bo, .ana] { try await sample.send(by: sender, to: id) }
            changes.append(try await sample.changes() - before)
        }
        #expect(changes[1] <= changes[0], "\(changes)")
    }

    @Test func `counts stay exact while the number of participants crosses the limit`()
        async throws
    {
        let sample = try await SampleApplication(limits: Self.limits())
        let others = Self.users(1...300)
        let id = try await sample.conversation([.ana, .bo, .cy])
        func expect(
            unread: Int64, total: Int64, isWide: Bool, _ user: UserID,
            _ location: SourceLocation = #_sourceLocation
        ) async throws {
            let view = try await sample.view(of: id, for: user)
            #expect(view.unreadCount == unread, sourceLocation: location)
            #expect(view.totalCount == total, sourceLocation: location)
            let badge = try await sample.store.badge(of: user, in: sample.application)
            #expect(badge.unreadMessageCount == unread, sourceLocation: location)
            let page = try await sample.store.messages(
                in: id, seenBy: .user(user), limit: 100, in: sample.application)
            #expect(page.total == total, sourceLocation: location)
            #expect(
                page.items.allSatisfy { item in (item.recipientCounts != nil) == isWide },
                sourceLocation: location)
            #expect(
                view.lastMessage?.message.id == page.items.first?.message.id,
                sourceLocation: location)
        }
        for _ in 1...3 { try await sample.send(by: .ana, to: id) }
        try await sample.block(.ana, by: .cy)
        try await sample.send(by: .ana, to: id)
        try await expect(unread: 4, total: 4, isWide: false, .bo)
        try await expect(unread: 3, total: 3, isWide: false, .cy)
        try await sample.patch(id, others.map(ConversationPatch.addParticipant))
        try await expect(unread: 4, total: 4, isWide: true, .bo)
        try await expect(unread: 3, total: 3, isWide: true, .cy)
        try await expect(unread: 0, total: 4, isWide: true, others[0])
        let last = try await sample.send(by: .ana, to: id).object
        #expect(last.recipientCounts == RecipientCounts(sent: 302, read: 1))
        #expect(last.recipients.isEmpty)
        try await sample.send(by: .bo, to: id)
        try await expect(unread: 5, total: 6, isWide: true, .bo)
        try await expect(unread: 4, total: 4, isWide: true, .cy)
        try await expect(unread: 2, total: 6, isWide: true, others[0])
        _ = try await sample.store.markAllRead(
            upTo: nil, by: others[0], in: id, in: sample.application)
        try await expect(unread: 0, total: 6, isWide: true, others[0])
        try await sample.store.deleteMessage(last.message.id, in: id, in: sample.application)
        try await expect(unread: 4, total: 5, isWide: true, .bo)
        try await expect(unread: 4, total: 4, isWide: true, .cy)
        try await expect(unread: 0, total: 5, isWide: true, others[0])
        try await expect(unread: 1, total: 5, isWide: true, others[1])
        try await sample.delete(id, .forMe, by: others[1])
        #expect(try await !sample.sees(id, others[1]))
        let service = try await sample.sendByService(to: id)
        #expect(service.recipientCounts == RecipientCounts(sent: 303))
        try await expect(unread: 1, total: 1, isWide: true, others[1])
        try await sample.patch(id, others.dropFirst(2).map(ConversationPatch.removeParticipant))
        try await expect(unread: 5, total: 6, isWide: false, .bo)
        try await expect(unread: 5, total: 5, isWide: false, .cy)
        try await expect(unread: 1, total: 6, isWide: false, others[0])
        try await expect(unread: 1, total: 1, isWide: false, others[1])
        try await expect(unread: 2, total: 6, isWide: false, others[2])
        try await sample.send(by: .bo, to: id)
        try await expect(unread: 2, total: 6, isWide: false, others[2])
        try await expect(unread: 6, total: 6, isWide: false, .cy)
        try await sample.expectSameRowsAgain()
    }

    @Test func `recipients are counted by status, and the sender has read`() async throws {
        let sample = try await SampleApplication(limits: Self.limits(wide: 2))
        let id = try await sample.conversation([.ana, .bo, .cy])
        let message = try await sample.send(by: .ana, to: id).object.message
        func counts() async throws -> RecipientCounts? {
            try await sample.store.message(message.id, in: id, in: sample.application)
                .recipientCounts
        }
        #expect(try await counts() == RecipientCounts(sent: 2, read: 1))
        for (kind, user) in [(Receipts.Kind.delivery, UserID.bo), (.delivery, .cy), (.read, .cy)] {
            try await sample.store.recordReceipt(
                kind, of: message.id, by: user, in: sample.application)
        }
        #expect(try await counts() == RecipientCounts(delivered: 1, read: 2))
        // A former participant has still received it, and an added one has not.
        try await sample.patch(id, [.removeParticipant(.cy), .addParticipant(.named("dee"))])
        #expect(try await counts() == RecipientCounts(delivered: 1, read: 2))
        try await sample.store.deleteMessage(message.id, in: id, in: sample.application)
        guard case .messageDeleted(let deleted) = try await sample.events().last?.event else {
            Issue.record("no deletion")
            return
        }
        #expect(deleted.recipients.isEmpty)
        #expect(deleted.recipientCounts == RecipientCounts(delivered: 1, read: 2))
    }

    @Test func `the first 100 participants are shown, and all are listed`() async throws {
        let sample = try await SampleApplication(limits: Self.limits())
        let users = Self.users(1...250)
        let id = try await sample.conversation(users)
        let view = try await sample.view(of: id, for: users[200])
        #expect(view.participants.map(\.userID) == Array(users.prefix(100)))
        #expect(view.participantCount == 250)
        try await sample.patch(
            id, [.removeParticipant(users[7]), .removeParticipant(users[3]), .addParticipant(.ana)])
        let shown = try await sample.store.conversation(id, in: sample.application)
        let current = users.filter { user in user != users[7] && user != users[3] } + [.ana]
        #expect(shown.participants.map(\.userID) == Array(current.prefix(100)))
        #expect(shown.conversation.participantCount == 249)
        var listed: [UserID] = []
        while true {
            let page = try await sample.store.participants(
                in: id, after: listed.last, limit: 64, in: sample.application)
            #expect(page.total == 249)
            guard !page.items.isEmpty else { break }
            listed += page.items.map(\.userID)
        }
        #expect(listed == current)
        let former = try await sample.store.participants(
            in: id, areFormer: true, limit: 10, in: sample.application)
        #expect(former.items.map(\.userID) == [users[3], users[7]].sorted())
        #expect(former.total == 2)
        await #expect(throws: Rejection.notFound(.identity)) {
            try await sample.store.participants(
                in: id, after: users[3], limit: 10, in: sample.application)
        }
        // A former participant is shown none (R14).
        let own = try await sample.store.participants(
            in: id, seenBy: .user(users[3]), limit: 10, in: sample.application)
        #expect(own.items.isEmpty && own.total == 0)
        #expect(try await sample.view(of: id, for: users[3]).participantCount == 0)
    }

    @Test func `a set of participants stores its order`() async throws {
        let sample = try await SampleApplication(limits: Self.limits(wide: 3))
        let id = try await sample.conversation(Self.users(1...6))
        let reversed = Array(Self.users(1...7).reversed())
        try await sample.patch(id, [.setParticipants(reversed)])
        let shown = try await sample.store.conversation(id, in: sample.application)
        #expect(shown.participants.map(\.userID) == reversed)
        try await sample.expectSameRowsAgain()
    }

    @Test func `messages of a wide conversation are shown in events as they were (ruling 27)`()
        async throws
    {
        let sample = try await SampleApplication(limits: Self.limits(wide: 2))
        let id = try await sample.conversation([.ana, .bo, .cy])
        try await sample.send(by: .ana, to: id)
        let sent = try await sample.end()
        try await sample.patch(id, [.removeParticipant(.ana), .removeParticipant(.cy)])
        let page = try await sample.store.eventPage(
            EventLogQuery(.ascending(after: LogPosition(sent.number - 1)), limit: 1),
            in: sample.application)
        guard case .message(let snapshot) = page.events.first?.object else {
            Issue.record("no message")
            return
        }
        #expect(snapshot.recipientCounts == RecipientCounts(sent: 2, read: 1))
        let before = try await sample.store.conversation(
            id, asOf: sent, in: sample.application)
        #expect(before.conversation.isWide && before.conversation.participantCount == 3)
        let after = try await sample.store.conversation(id, in: sample.application)
        #expect(!after.conversation.isWide && after.conversation.participantCount == 1)
    }

    @Test func `a view that changes stores the state of its participant only`() async throws {
        let sample = try await SampleApplication(limits: Self.limits())
        let id = try await sample.conversation([.ana, .bo] + Self.users(1...500))
        try await sample.send(by: .ana, to: id)
        let before = try await sample.historyBytes()
        try await sample.delete(id, .forMe, by: .bo)
        let hidden = try await sample.end()
        try await sample.send(by: .ana, to: id)
        try await sample.patch(id, .setMetadata(path: ["topic"], .text("rent")))
        #expect(try await sample.historyBytes() - before < 500)
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.store.conversation(
                id, asOf: hidden, seenBy: .bo, in: sample.application)
        }
        let earlier = try await sample.store.conversation(
            id, asOf: LogPosition(hidden.number - 1), seenBy: .bo, in: sample.application)
        #expect(earlier.totalCount == 1 && earlier.participantCount == 502)
    }

    @Test func `users of a wide conversation follow each other, also after they have left it`()
        async throws
    {
        let sample = try await SampleApplication(limits: Self.limits())
        let users = Self.users(1...120)
        let id = try await sample.conversation(users)
        #expect(
            try await sample.following(of: users[0]) == users.dropFirst().sorted())
        try await sample.patch(id, [.removeParticipant(users[1]), .addParticipant(.ana)])
        #expect(
            try await sample.following(of: users[1])
                == users.filter { user in user != users[1] }.sorted())
        #expect(try await sample.following(of: .ana).count == 119)
        try await sample.unfollow(users[5], by: users[1])
        try await sample.unfollow(users[5], by: users[2])
        #expect(try await !sample.following(of: users[1]).contains(users[5]))
        #expect(try await sample.following(of: users[2]).contains(users[5]))
        try await sample.store.deleteConversation(id, in: sample.application)
        #expect(try await !sample.following(of: users[2]).contains(users[5]))
        #expect(try await sample.following(of: users[5]).contains(users[2]))
        try await sample.expectSameRowsAgain()
    }
}

extension SampleApplication {
    /// The number of rows that the writer has ever changed.
    fileprivate func changes() async throws -> Int64 {
        try await database.write { transaction in
            try transaction.first("SELECT total_changes()") { row in try row.int64(0) } ?? 0
        }
    }

    /// The size of all stored states.
    fileprivate func historyBytes() async throws -> Int64 {
        try await database.read { [application] transaction in
            try transaction.first(
                """
                /* test */ SELECT CAST(COALESCE(SUM(LENGTH(state)), 0) AS BIGINT) FROM object_history
                WHERE application = \(application.bytes)
                """
            ) { row in try row.int64(0) } ?? 0
        }
    }

    fileprivate func sendByService(to id: Conversation.ID) async throws -> MessageSnapshot {
        try await store.sendMessage(
            Message.Draft(
                sender: .named("Billing"),
                parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline([0x61]))]),
            to: id, in: application
        ).object
    }

    fileprivate func patch(
        _ id: Conversation.ID, _ patches: [ConversationPatch]
    ) async throws {
        try await store.patchConversation(id, patches, in: application)
    }
}
