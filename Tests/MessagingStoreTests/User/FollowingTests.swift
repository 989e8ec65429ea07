import Messaging
import SQL
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
