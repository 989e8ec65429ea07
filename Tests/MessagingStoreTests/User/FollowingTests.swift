import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Following` {
    @Test func `sharing a conversation follows in both directions (5_8)`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana, .bo, .cy])
        #expect(try await shop.following(of: .ana) == [.bo, .cy])
        #expect(try await shop.following(of: .bo) == [.ana, .cy])
        #expect(try await shop.following(of: .cy) == [.ana, .bo])
    }

    @Test func `a conversation of one follows nobody`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana])
        #expect(try await shop.following(of: .ana) == [])
    }

    @Test
    func `unfollowing takes back the wish, a shared conversation still connects (rulings 19)`()
        async throws
    {
        let shop = try await Shop()
        let first = try await shop.conversation()
        let second = try await shop.conversation()
        try await shop.unfollow(.bo, by: .ana)
        #expect(try await shop.following(of: .ana) == [.bo])
        try await shop.store.deleteConversation(first, in: shop.application)
        #expect(try await shop.following(of: .ana) == [.bo])
        try await shop.patch(second, .removeParticipant(.bo))
        #expect(try await shop.following(of: .ana) == [])
        #expect(try await shop.following(of: .bo) == [.ana])
    }

    @Test func `who has met goes on following until he says otherwise (5_8)`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation([.ana, .bo, .cy])
        try await shop.patch(conversation, .removeParticipant(.ana), .removeParticipant(.bo))
        #expect(try await shop.following(of: .ana) == [.bo, .cy])
        try await shop.unfollow(.bo, by: .ana)
        #expect(try await shop.following(of: .ana) == [.cy])
        try await shop.patch(conversation, .addParticipant(.ana), .addParticipant(.bo))
        #expect(try await shop.following(of: .ana) == [.bo, .cy])
    }

    @Test func `who is added and who is removed at once never met`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.patch(conversation, .addParticipant(.cy), .removeParticipant(.bo))
        #expect(try await shop.following(of: .cy) == [.ana])
        #expect(try await shop.following(of: .bo) == [.ana])
        #expect(try await shop.following(of: .ana) == [.bo, .cy])
    }

    @Test func `who has not seen a conversation follows nobody by it (R51)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana)
        let conversation = try await shop.create([.bo, .cy], by: .ana).object.id
        #expect(try await shop.following(of: .ana) == [.bo, .cy])
        #expect(try await shop.following(of: .bo) == [])
        try await shop.patch(conversation, .removeParticipant(.bo))
        _ = try await shop.say(as: .ana, in: conversation)
        #expect(try await shop.following(of: .bo) == [])
        #expect(try await shop.following(of: .cy) == [.ana])
    }

    @Test func `who asks for a distinct conversation follows from then on (R53)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana, .bo)
        try await shop.create([.bo, .cy], by: .ana, isDistinct: true)
        try await shop.create([.ana, .cy], by: .bo, isDistinct: true)
        #expect(try await shop.following(of: .bo) == [.ana, .cy])
        #expect(try await shop.following(of: .cy) == [])
        try await shop.create([.ana, .bo, .cy], isDistinct: true)
        #expect(try await shop.following(of: .cy) == [.ana, .bo])
    }

    @Test(arguments: [true, false])
    func `what was seen late is counted once`(isAnnounced: Bool) async throws {
        let shop = try await Shop()
        try await shop.know(.ana, .bo)
        let conversation = try await shop.create([.bo, .cy], by: .ana, isDistinct: true).object.id
        try await shop.create([.ana, .cy], by: .bo, isDistinct: true)
        if isAnnounced {
            _ = try await shop.say(as: .ana, in: conversation)
            try await shop.delete(conversation, .forMe, by: .cy)
            _ = try await shop.say(as: .ana, in: conversation)
        }
        for user in [UserID.ana, .bo, .cy] {
            for other in [UserID.ana, .bo, .cy] { try await shop.unfollow(other, by: user) }
        }
        try await shop.store.deleteConversation(conversation, in: shop.application)
        for user in [UserID.ana, .bo, .cy] {
            #expect(try await shop.following(of: user) == [])
        }
    }

    @Test func `whom only a block keeps from seeing follows when he sees (R33)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana, .bo)
        try await shop.block(.ana, by: .bo)
        let conversation = try await shop.create([.bo, .cy], by: .ana).object.id
        _ = try await shop.say(as: .ana, in: conversation)
        #expect(try await shop.following(of: .bo) == [])
        _ = try await shop.say(as: .cy, in: conversation)
        #expect(try await shop.following(of: .bo) == [.ana, .cy])
    }

    @Test func `following twice is one event, unfollowing who is not followed none`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana])
        let kinds = try await shop.kinds {
            try await shop.follow([.bo, .cy, .bo], by: .ana)
            try await shop.follow([.cy], by: .ana)
            try await shop.unfollow(.named("dee"), by: .ana)
            try await shop.unfollow(.bo, by: .ana)
            try await shop.unfollow(.bo, by: .ana)
        }
        #expect(kinds == ["following.changed", "following.changed"])
        #expect(try await shop.following(of: .ana) == [.cy])
    }

    @Test func `requests on behalf of nobody are not found (rulings 19)`() async throws {
        let shop = try await Shop()
        await #expect(throws: Rejection.notFound(.user)) {
            try await shop.follow([.bo], by: .ana)
        }
        await #expect(throws: Rejection.notFound(.user)) { try await shop.following(of: .ana) }
    }

    @Test func `25 participants are 600 pairs, and counts stay true`() async throws {
        let shop = try await Shop()
        let users = (10..<35).map { number in UserID.named("u\(number)") }
        let conversation = try await shop.conversation(users)
        try await shop.conversation(Array(users.prefix(3)))
        for user in users {
            #expect(try await shop.following(of: user).count == 24)
        }
        for user in users.dropFirst(3) {
            for other in users { try await shop.unfollow(other, by: user) }
        }
        try await shop.store.deleteConversation(conversation, in: shop.application)
        #expect(try await shop.following(of: users[0]).count == 24)
        #expect(try await shop.following(of: users[5]) == [])
    }

    @Test(.enabled(if: onSQLite)) func `lists and counts are read from an index`() async throws {
        let shop = try await Shop()
        let plan = try await shop.database.read { transaction in
            try transaction.rows(
                """
                EXPLAIN QUERY PLAN
                SELECT \(raw: User.columns) FROM following f
                JOIN identities i ON i.application = f.application AND i.user_id = f.followed
                WHERE f.application = \([0]) AND f.follower = \("a") AND f.followed > \("")
                ORDER BY f.followed LIMIT \(5)
                """
            ) { row in try row.text("detail") }
        }
        #expect(plan.contains { line in line.contains("following_by_follower") })
        #expect(plan.contains { line in line.contains("identities_by_user") })
        #expect(!plan.contains { line in line.contains("TEMP B-TREE") })
    }

    @Test func `an older database takes back what nobody has seen yet`() async throws {
        let folder = TemporaryFolder()
        let old = try Database.open(
            folder.database, migrations: Array(Schema.migrations.prefix(7)))
        try await old.write { transaction in
            for (user, state) in [("ana", "shown"), ("bo", "unseen"), ("cy", "unseen")] {
                try transaction.execute(
                    """
                    INSERT INTO participants (
                        application, conversation, user_id, place, past, joined_after,
                        conversation_created_at, state
                    ) VALUES (\([9]), \([1]), \(user), 0, '', 0, 0, \(state))
                    """)
                try transaction.execute(
                    """
                    INSERT INTO identities (
                        application, user_id, kind, conversation_count, following_count
                    ) VALUES (\([9]), \(user), 'user', 1, 2)
                    """)
            }
            for (follower, followed, isKept, count) in [
                ("ana", "bo", 1, 1), ("ana", "cy", 1, 1), ("bo", "ana", 1, 2), ("bo", "cy", 1, 1),
                ("cy", "ana", 0, 1), ("cy", "bo", 0, 2),
            ] as [(String, String, Int64, Int64)] {
                try transaction.execute(
                    """
                    INSERT INTO following (application, follower, followed, is_kept, shared_count)
                    VALUES (\([9]), \(follower), \(followed), \(isKept), \(count))
                    """)
            }
        }
        old.close()
        let shop = try await Shop(at: folder.database)
        let rows = try await shop.database.read { transaction in
            try transaction.rows(
                """
                SELECT f.follower, f.followed, f.shared_count, i.following_count FROM following f
                JOIN identities i ON i.application = f.application AND i.user_id = f.follower
                ORDER BY f.follower, f.followed
                """
            ) { row in
                let (one, other) = (try row.text(0), try row.text(1))
                return "\(one) \(other) \(try row.int64(2)) \(try row.int64(3))"
            }
        }
        #expect(rows == ["ana bo 1 2", "ana cy 1 2", "bo ana 1 2", "bo cy 0 2", "cy bo 1 1"])
    }

    @Test func `an older database starts with those who have met`() async throws {
        let folder = TemporaryFolder()
        let old = try Database.open(folder.database, migrations: [.messaging])
        try await old.write { transaction in
            for (conversation, user, place, left) in [
                (1, "ana", 0, nil), (1, "bo", 1, nil), (1, "cy", 2, 5), (2, "ana", 0, nil),
                (2, "bo", 1, nil),
            ] as [(UInt8, String, Int64, Int64?)] {
                try transaction.execute(
                    """
                    INSERT INTO participants (
                        application, conversation, user_id, place, past, joined_after,
                        left_after, messages_before, messages_until, sent_count, read_count,
                        frozen_metadata, conversation_created_at
                    ) VALUES (
                        \([9]), \([conversation]), \(user), \(place), '', 0, \(left), 0, NULL, 0,
                        0, NULL, 0
                    )
                    """)
            }
            for number in [1, 2] as [UInt8] {
                try transaction.execute(
                    """
                    INSERT INTO conversations (
                        application, id, created_at, is_distinct, distinct_key, is_announced,
                        deleted_at, last_position, last_sent_at, message_count, metadata, version
                    ) VALUES (
                        \([9]), \([number]), 0, 0, NULL, 1, NULL, 0, NULL, 0, \([0]), 1
                    )
                    """)
            }
            for (user, name) in [("ana", "Ana"), ("bo", nil), ("cy", nil)]
                as [(String, String?)]
            {
                try transaction.execute(
                    """
                    INSERT INTO identities (
                        application, user_id, display_name, avatar_url, kind, conversation_count
                    ) VALUES (\([9]), \(user), \(name), NULL, 'user', 1)
                    """)
            }
        }
        old.close()
        let shop = try await Shop(at: folder.database)
        let rows = try await shop.database.read { transaction in
            try transaction.rows(
                """
                SELECT follower, followed, is_kept, shared_count FROM following
                ORDER BY follower, followed
                """
            ) { row in
                let (one, other) = (try row.text(0), try row.text(1))
                return "\(one) \(other) \(try row.int64(2)) \(try row.int64(3))"
            }
        }
        #expect(
            rows == [
                "ana bo 1 2", "ana cy 1 0", "bo ana 1 2", "bo cy 1 0", "cy ana 1 0", "cy bo 1 0",
            ])
        let users = try await shop.database.read { transaction in
            try transaction.rows(
                "SELECT user_id, standing, following_count FROM identities ORDER BY user_id"
            ) { row in "\(try row.text(0)) \(try row.int64(1)) \(try row.int64(2))" }
        }
        #expect(users == ["ana 2 2", "bo 1 2", "cy 1 2"])
    }
}

extension Shop {
    fileprivate func follow(_ users: [UserID], by follower: UserID) async throws {
        try await store.follow(users, by: follower, in: application)
    }

    fileprivate func unfollow(_ user: UserID, by follower: UserID) async throws {
        try await store.unfollow(user, by: follower, in: application)
    }

    /// Whom a user follows; that their number is counted right is checked each time.
    fileprivate func following(of user: UserID) async throws -> [UserID] {
        let page = try await store.following(of: user, limit: 500, in: application)
        #expect(page.total == Int64(page.items.count))
        let users = try await store.followedUsers(of: user, limit: 500, in: application)
        #expect(users.items.map(\.id) == page.items)
        return page.items
    }
}
