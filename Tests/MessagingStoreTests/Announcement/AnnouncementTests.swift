import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Announcements` {
    @Test func `R100: each recipient has a copy of his own`() async throws {
        let shop = try await Shop()
        let id = try await shop.announce(to: [.ana, .bo, .cy]).object.announcement.id
        try await shop.store.recordReceipt(.read, of: id, by: .ana, in: shop.application)
        try await shop.store.deleteAnnouncement(id, for: .bo, in: shop.application)
        #expect(try await shop.status(of: id, for: .ana) == .read)
        #expect(try await shop.announcements(for: .bo) == [])
        #expect(try await shop.status(of: id, for: .cy) == .sent)
        let known = try await shop.store.announcement(id, in: shop.application)
        #expect(known.recipients == [.ana, .bo, .cy])
    }

    @Test func `R100: nobody reads, receives or deletes what was not for him`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.cy])
        let id = try await shop.announce().object.announcement.id
        let kinds = try await shop.kinds {
            await #expect(throws: Rejection.notFound(.announcement)) {
                try await shop.status(of: id, for: .cy)
            }
            await #expect(throws: Rejection.notFound(.announcement)) {
                try await shop.store.recordReceipt(.read, of: id, by: .cy, in: shop.application)
            }
            await #expect(throws: Rejection.notFound(.announcement)) {
                try await shop.store.deleteAnnouncement(id, for: .cy, in: shop.application)
            }
        }
        #expect(kinds == [])
    }

    @Test func `R101: no conversation comes of it, and none counts it`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.send(by: .ana, to: conversation)
        let before = try await shop.view(of: .bo)
        let kinds = try await shop.kinds { try await shop.announce() }
        #expect(kinds == ["announcement.sent"])
        #expect(try await shop.view(of: .bo) == before)
    }

    @Test func `R72: a status never falls, and a repeat is no event`() async throws {
        let shop = try await Shop()
        let id = try await shop.announce().object.announcement.id
        let kinds = try await shop.kinds {
            for kind in [.delivery, .delivery, .read, .delivery, .read] as [Receipts.Kind] {
                try await shop.store.recordReceipt(kind, of: id, by: .bo, in: shop.application)
            }
        }
        #expect(kinds == ["announcement.received", "announcement.received"])
        #expect(try await shop.status(of: id, for: .bo) == .read)
    }

    @Test func `R71: who announces has read it from the start`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana])
        let id = try await shop.announce(by: .user(.ana)).object.announcement.id
        #expect(try await shop.status(of: id, for: .ana) == .read)
        #expect(try await shop.status(of: id, for: .bo) == .sent)
    }

    @Test func `R90: naming recipients makes them known, at no conversation`() async throws {
        let shop = try await Shop()
        try await shop.announce(to: [.cy])
        let page = try await shop.store.conversations(of: .cy, limit: 1, in: shop.application)
        #expect(page.total == 0)
    }

    @Test func `5.5: a sending user has an identity`() async throws {
        let shop = try await Shop()
        let kinds = try await shop.kinds {
            await #expect(throws: Rejection.invalid("sender_id", .announcementSenderIdentity)) {
                try await shop.announce(by: .user(.named("nobody")))
            }
        }
        #expect(kinds == [])
    }

    @Test func `1.10: pages follow each other, the total on each`() async throws {
        let shop = try await Shop()
        var made: [Announcement.ID] = []
        for number in 0..<7 {
            // Two at the same time each: then the ids decide (rulings 17).
            if number.isMultiple(of: 2) { shop.tick() }
            made.append(try await shop.announce("\(number)").object.announcement.id)
        }
        var found: [Announcement.ID] = []
        while true {
            let page = try await shop.store.announcements(
                for: .bo, after: found.last, limit: 3, in: shop.application)
            #expect(page.total == 7)
            if page.items.isEmpty { break }
            found += page.items.map(\.announcement.id)
        }
        let pairs = [made[6...6], made[4...5], made[2...3], made[0...1]]
        #expect(found == pairs.flatMap { pair in pair.sorted(by: >) })
    }

    @Test func `rulings 17: no page starts at what is deleted`() async throws {
        let shop = try await Shop()
        let id = try await shop.announce().object.announcement.id
        try await shop.store.deleteAnnouncement(id, for: .bo, in: shop.application)
        await #expect(throws: Rejection.notFound(.announcement)) {
            try await shop.store.announcements(
                for: .bo, after: id, limit: 3, in: shop.application)
        }
    }

    @Test func `rulings 19: nothing is told of users nobody has named`() async throws {
        let shop = try await Shop()
        await #expect(throws: Rejection.notFound(.user)) {
            try await shop.announcements(for: .named("nobody"))
        }
    }

    @Test func `R111: twenty with one key make one`() async throws {
        let shop = try await Shop()
        let kinds = try await shop.kinds {
            let ids = try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await shop.announce(key: .sample(42)).object.announcement.id
                    }
                }
                return try await group.reduce(into: Set()) { ids, id in ids.insert(id) }
            }
            #expect(ids == [.sample(42)])
        }
        #expect(kinds == ["announcement.sent"])
        #expect(try await shop.announcements(for: .bo) == [.sample(42)])
    }

    @Test func `1.9: keys of announcements and messages do not meet`() async throws {
        let shop = try await Shop()
        try await shop.send(to: try await shop.conversation(), key: .sample(42))
        let made = try await shop.announce(key: .sample(42))
        #expect(made == .created(made.object))
    }

    @Test func `5.5: ten thousand recipients are one event and as many narrow rows`() async throws {
        let shop = try await Shop()
        let users = (0..<Announcement.recipientLimit).map { UserID.named("user-\($0)") }
        let kinds = try await shop.kinds { try await shop.announce(to: users) }
        #expect(kinds == ["announcement.sent"])
        let last = try await shop.announcements(for: .named("user-9999"))
        #expect(last.count == 1)
        let count = Rejection.Detail(amount: 10_001)
        #expect(throws: Rejection.invalid("recipients", .recipientCount, count)) {
            try Announcement.Draft(recipients: users + [.ana], sender: .named("Shop"), parts: [])
        }
    }

    @Test(.enabled(if: onSQLite)) func `the list of a user is read from its index`() async throws {
        let shop = try await Shop()
        let plan = try await shop.database.read { transaction in
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

extension Shop {
    fileprivate func status(
        of announcement: Announcement.ID, for user: UserID
    ) async throws -> RecipientStatus {
        try await store.announcement(announcement, seenBy: user, in: application).status
    }
}
