import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Following` {
    @Test func `participants of a conversation follow each other (5_8)`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana, .bo, .cy])
        #expect(try await sample.following(of: .ana) == [.bo, .cy])
        #expect(try await sample.following(of: .bo) == [.ana, .cy])
        #expect(try await sample.following(of: .cy) == [.ana, .bo])
    }

    @Test func `a conversation with one participant causes no following`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana])
        #expect(try await sample.following(of: .ana) == [])
    }

    @Test
    func `unfollowing has no effect while users share a conversation (ruling 19)`()
        async throws
    {
        let sample = try await SampleApplication()
        let first = try await sample.conversation()
        let second = try await sample.conversation()
        try await sample.unfollow(.bo, by: .ana)
        #expect(try await sample.following(of: .ana) == [.bo])
        try await sample.store.deleteConversation(first, in: sample.application)
        #expect(try await sample.following(of: .ana) == [.bo])
        try await sample.patch(second, .removeParticipant(.bo))
        #expect(try await sample.following(of: .ana) == [])
        #expect(try await sample.following(of: .bo) == [.ana])
    }

    @Test
    func
        `a conversation that the follower has deleted from their view still connects (rulings 19)`()
        async throws
    {
        let sample = try await SampleApplication()
        let first = try await sample.conversation()
        let second = try await sample.conversation([.ana, .bo, .cy])
        try await sample.delete(second, .forMe, by: .ana)
        try await sample.unfollow(.bo, by: .ana)
        try await sample.store.deleteConversation(first, in: sample.application)
        #expect(try await sample.following(of: .ana) == [.bo, .cy])
        try await sample.store.deleteConversation(second, in: sample.application)
        #expect(try await sample.following(of: .ana) == [.cy])
    }

    @Test(.enabled(if: onSQLite))
    func `a conversation of users that follow each other writes no row for a pair`() async throws {
        let sample = try await SampleApplication()
        let users = (10..<35).map { number in UserID.named("u\(number)") }
        func written() async throws -> Int64 {
            try await sample.database.write { transaction in
                try transaction.first("SELECT total_changes()") { row in try row.int64(0) } ?? 0
            }
        }
        let before = try await written()
        try await sample.conversation(users)
        let between = try await written()
        try await sample.conversation(users)
        let after = try await written()
        #expect(between - before > 600)
        #expect(after - between < 100)
    }

    @Test func `former participants follow each other until they unfollow (5_8)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo, .cy])
        try await sample.patch(conversation, .removeParticipant(.ana), .removeParticipant(.bo))
        #expect(try await sample.following(of: .ana) == [.bo, .cy])
        try await sample.unfollow(.bo, by: .ana)
        #expect(try await sample.following(of: .ana) == [.cy])
        try await sample.patch(conversation, .addParticipant(.ana), .addParticipant(.bo))
        #expect(try await sample.following(of: .ana) == [.bo, .cy])
    }

    @Test func `users added and removed in the same change do not follow each other`() async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.patch(conversation, .addParticipant(.cy), .removeParticipant(.bo))
        #expect(try await sample.following(of: .cy) == [.ana])
        #expect(try await sample.following(of: .bo) == [.ana])
        #expect(try await sample.following(of: .ana) == [.bo, .cy])
    }

    @Test func `a participant who cannot see a conversation follows none of its users (R51)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana)
        let conversation = try await sample.create([.bo, .cy], by: .ana).object.id
        #expect(try await sample.following(of: .ana) == [.bo, .cy])
        #expect(try await sample.following(of: .bo) == [])
        try await sample.patch(conversation, .removeParticipant(.bo))
        _ = try await sample.post(as: .ana, in: conversation)
        #expect(try await sample.following(of: .bo) == [])
        #expect(try await sample.following(of: .cy) == [.ana])
    }

    @Test func `a user who requests a distinct conversation follows from then on (R53)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana, .bo)
        try await sample.create([.bo, .cy], by: .ana, isDistinct: true)
        try await sample.create([.ana, .cy], by: .bo, isDistinct: true)
        #expect(try await sample.following(of: .bo) == [.ana, .cy])
        #expect(try await sample.following(of: .cy) == [])
        try await sample.create([.ana, .bo, .cy], isDistinct: true)
        #expect(try await sample.following(of: .cy) == [.ana, .bo])
    }

    @Test(arguments: [true, false])
    func `a conversation that becomes visible late is counted once`(isAnnounced: Bool) async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana, .bo)
        let conversation = try await sample.create([.bo, .cy], by: .ana, isDistinct: true).object.id
        try await sample.create([.ana, .cy], by: .bo, isDistinct: true)
        if isAnnounced {
            _ = try await sample.post(as: .ana, in: conversation)
            try await sample.delete(conversation, .forMe, by: .cy)
            _ = try await sample.post(as: .ana, in: conversation)
        }
        for user in [UserID.ana, .bo, .cy] {
            for other in [UserID.ana, .bo, .cy] { try await sample.unfollow(other, by: user) }
        }
        try await sample.store.deleteConversation(conversation, in: sample.application)
        for user in [UserID.ana, .bo, .cy] {
            #expect(try await sample.following(of: user) == [])
        }
    }

    @Test func `a participant hidden by a block follows once they see the conversation (R33)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana, .bo)
        try await sample.block(.ana, by: .bo)
        let conversation = try await sample.create([.bo, .cy], by: .ana).object.id
        _ = try await sample.post(as: .ana, in: conversation)
        #expect(try await sample.following(of: .bo) == [])
        _ = try await sample.post(as: .cy, in: conversation)
        #expect(try await sample.following(of: .bo) == [.ana, .cy])
    }

    @Test func `following twice is one event, unfollowing a user who is not followed none`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana])
        let kinds = try await sample.kinds {
            try await sample.follow([.bo, .cy, .bo], by: .ana)
            try await sample.follow([.cy], by: .ana)
            try await sample.unfollow(.named("dee"), by: .ana)
            try await sample.unfollow(.bo, by: .ana)
            try await sample.unfollow(.bo, by: .ana)
        }
        #expect(kinds == ["following.changed", "following.changed"])
        #expect(try await sample.following(of: .ana) == [.cy])
    }

    @Test func `requests on behalf of unknown users are not found (ruling 19)`() async throws {
        let sample = try await SampleApplication()
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.follow([.bo], by: .ana)
        }
        await #expect(throws: Rejection.notFound(.user)) { try await sample.following(of: .ana) }
    }

    @Test func `25 participants are 600 pairs, and counts are correct`() async throws {
        let sample = try await SampleApplication()
        let users = (10..<35).map { number in UserID.named("u\(number)") }
        let conversation = try await sample.conversation(users)
        try await sample.conversation(Array(users.prefix(3)))
        for user in users {
            #expect(try await sample.following(of: user).count == 24)
        }
        for user in users.dropFirst(3) {
            for other in users { try await sample.unfollow(other, by: user) }
        }
        try await sample.store.deleteConversation(conversation, in: sample.application)
        #expect(try await sample.following(of: users[0]).count == 24)
        #expect(try await sample.following(of: users[5]) == [])
    }

    @Test(.enabled(if: onSQLite)) func `lists and counts are read from an index`() async throws {
        let sample = try await SampleApplication()
        let plan = try await sample.database.read { transaction in
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

extension SampleApplication {
    fileprivate func follow(_ users: [UserID], by follower: UserID) async throws {
        try await store.follow(users, by: follower, in: application)
    }

    func unfollow(_ user: UserID, by follower: UserID) async throws {
        try await store.unfollow(user, by: follower, in: application)
    }

    /// The users that a user follows; checks their count each time.
    func following(of user: UserID) async throws -> [UserID] {
        let page = try await store.following(of: user, limit: 500, in: application)
        #expect(page.total == Int64(page.items.count))
        let users = try await store.followedUsers(of: user, limit: 500, in: application)
        #expect(users.items.map(\.id) == page.items)
        return page.items
    }
}
