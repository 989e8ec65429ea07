import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Announcements` {
    @Test func `R100: each recipient has a copy`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.announce(to: [.ana, .bo, .cy]).object.announcement.id
        try await sample.store.recordReceipt(.read, of: id, by: .ana, in: sample.application)
        try await sample.store.deleteAnnouncement(id, for: .bo, in: sample.application)
        #expect(try await sample.status(of: id, for: .ana) == .read)
        #expect(try await sample.announcements(for: .bo) == [])
        #expect(try await sample.status(of: id, for: .cy) == .sent)
        let known = try await sample.store.announcement(id, in: sample.application)
        #expect(known.recipients == [.ana, .bo, .cy])
    }

    @Test func `R100: a user who is no recipient cannot read, receive or delete it`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.cy])
        let id = try await sample.announce().object.announcement.id
        let kinds = try await sample.kinds {
            await #expect(throws: Rejection.notFound(.announcement)) {
                try await sample.status(of: id, for: .cy)
            }
            await #expect(throws: Rejection.notFound(.announcement)) {
                try await sample.store.recordReceipt(.read, of: id, by: .cy, in: sample.application)
            }
            await #expect(throws: Rejection.notFound(.announcement)) {
                try await sample.store.deleteAnnouncement(id, for: .cy, in: sample.application)
            }
        }
        #expect(kinds == [])
    }

    @Test func `R101: an announcement creates no conversation and is not counted in one`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.send(by: .ana, to: conversation)
        let before = try await sample.view(of: .bo)
        let kinds = try await sample.kinds { try await sample.announce() }
        #expect(kinds == ["announcement.sent"])
        #expect(try await sample.view(of: .bo) == before)
    }

    @Test func `R72: a status never decreases, and a repeat records no event`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.announce().object.announcement.id
        let kinds = try await sample.kinds {
            for kind in [.delivery, .delivery, .read, .delivery, .read] as [Receipts.Kind] {
                try await sample.store.recordReceipt(kind, of: id, by: .bo, in: sample.application)
            }
        }
        #expect(kinds == ["announcement.received", "announcement.received"])
        #expect(try await sample.status(of: id, for: .bo) == .read)
    }

    @Test func `R71: the sender's status is read from the start`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana])
        let id = try await sample.announce(by: .user(.ana)).object.announcement.id
        #expect(try await sample.status(of: id, for: .ana) == .read)
        #expect(try await sample.status(of: id, for: .bo) == .sent)
    }

    @Test func `R90: recipients become users, without a conversation`() async throws {
        let sample = try await SampleApplication()
        try await sample.announce(to: [.cy])
        let page = try await sample.store.conversations(of: .cy, limit: 1, in: sample.application)
        #expect(page.total == 0)
    }

    @Test func `5.5: a sending user has an identity`() async throws {
        let sample = try await SampleApplication()
        let kinds = try await sample.kinds {
            await #expect(throws: Rejection.invalid("sender_id", .announcementSenderIdentity)) {
                try await sample.announce(by: .user(.named("unknown")))
            }
        }
        #expect(kinds == [])
    }

    @Test func `1.10: pages are consecutive, and each has the total`() async throws {
        let sample = try await SampleApplication()
        var made: [Announcement.ID] = []
        for number in 0..<7 {
            // Two have the same time each, so that ids decide (ruling 17).
            if number.isMultiple(of: 2) { sample.tick() }
            made.append(try await sample.announce("\(number)").object.announcement.id)
        }
        var found: [Announcement.ID] = []
        while true {
            let page = try await sample.store.announcements(
                for: .bo, after: found.last, limit: 3, in: sample.application)
            #expect(page.total == 7)
            if page.items.isEmpty { break }
            found += page.items.map(\.announcement.id)
        }
        let pairs = [made[6...6], made[4...5], made[2...3], made[0...1]]
        #expect(found == pairs.flatMap { pair in pair.sorted(by: >) })
    }

    @Test func `ruling 17: a page after a deleted announcement is not found`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.announce().object.announcement.id
        try await sample.store.deleteAnnouncement(id, for: .bo, in: sample.application)
        await #expect(throws: Rejection.notFound(.announcement)) {
            try await sample.store.announcements(
                for: .bo, after: id, limit: 3, in: sample.application)
        }
    }

    @Test func `ruling 19: requests for unknown users are not found`() async throws {
        let sample = try await SampleApplication()
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.announcements(for: .named("unknown"))
        }
    }

    @Test func `R111: twenty requests with one key create one`() async throws {
        let sample = try await SampleApplication()
        let kinds = try await sample.kinds {
            let ids = try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await sample.announce(key: .sample(42)).object.announcement.id
                    }
                }
                return try await group.reduce(into: Set()) { ids, id in ids.insert(id) }
            }
            #expect(ids == [.sample(42)])
        }
        #expect(kinds == ["announcement.sent"])
        #expect(try await sample.announcements(for: .bo) == [.sample(42)])
    }

    @Test func `1.9: keys of announcements and messages are separate`() async throws {
        let sample = try await SampleApplication()
        try await sample.send(to: try await sample.conversation(), key: .sample(42))
        let made = try await sample.announce(key: .sample(42))
        #expect(made == .created(made.object))
    }

    @Test func `5.5: ten thousand recipients are one event and as many narrow rows`() async throws {
        let sample = try await SampleApplication()
        let users = (0..<Announcement.recipientLimit).map { UserID.named("user-\($0)") }
        let kinds = try await sample.kinds { try await sample.announce(to: users) }
        #expect(kinds == ["announcement.sent"])
        let last = try await sample.announcements(for: .named("user-9999"))
        #expect(last.count == 1)
        let count = Rejection.Detail(amount: 10_001)
        #expect(throws: Rejection.invalid("recipients", .recipientCount, count)) {
            try Announcement.Draft(recipients: users + [.ana], sender: .named("Shop"), parts: [])
        }
    }

    @Test(.enabled(if: onSQLite)) func `the list of a user is read from its index`() async throws {
        let sample = try await SampleApplication()
        let plan = try await sample.database.read { transaction in
            try transaction.rows(
                """
                EXPLAIN QUERY PLAN
                SELECT announcement, sent_at, status FROM announcement_recipients
                WHERE application = \([UInt8]()) AND user_id = \("ana")
                    AND (sent_at, announcement) < (\(Int64(5)), \([UInt8]()))
                    AND deleted_at IS NULL
                ORDER BY sent_at DESC, announcement DESC LIMIT \(100)
                """
            ) { row in try row.text(3) }
        }
        #expect(plan.count == 1)
        #expect(plan.first?.contains("SEARCH") == true)
        #expect(plan.first?.contains("announcement_recipients_by_user") == true)
    }
}

extension SampleApplication {
    fileprivate func status(
        of announcement: Announcement.ID, for user: UserID
    ) async throws -> RecipientStatus {
        try await store.announcement(announcement, seenBy: user, in: application).status
    }
}

extension SampleApplication {
    @discardableResult
    func announce(
        _ text: String = "closed", by sender: Sender = .named("Billing"),
        to users: [UserID] = [.ana, .bo], id: Announcement.ID? = nil, key: Replay.Key? = nil
    ) async throws -> CreationOutcome<AnnouncementSnapshot> {
        try await store.announce(
            Announcement.Draft(
                recipients: users, sender: sender,
                parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))],
                notification: Array(#"{"text":"news"}"#.utf8), proposedID: id),
            key: key, in: application)
    }

    /// A user's announcements, newest first.
    func announcements(for user: UserID, limit: Int = 100) async throws -> [Announcement.ID] {
        try await store.announcements(for: user, limit: limit, in: application).items
            .map(\.announcement.id)
    }

    func notify(_ users: [UserID] = [.ana], key: Replay.Key? = nil) async throws {
        try await store.notify(
            PushNotification.Draft(
                recipients: users, notification: Array(#"{"text":"dinner"}"#.utf8)),
            key: key, in: application)
    }

    /// Creates announcements and notifications, with receipts and a deletion.
    func announceAndNotify() async throws {
        let made = try await announce(key: .sample(21)).object.announcement.id
        try await announce(by: .user(.cy), to: [.cy, .named("eve")])
        try await store.recordReceipt(.delivery, of: made, by: .bo, in: application)
        try await store.recordReceipt(.read, of: made, by: .bo, in: application)
        try await store.deleteAnnouncement(made, for: .ana, in: application)
        try await notify([.named("fay"), .ana], key: .sample(22))
        wait(milliseconds: PushNotification.keyLifetime)
        try await notify(key: .sample(22))
    }
}
