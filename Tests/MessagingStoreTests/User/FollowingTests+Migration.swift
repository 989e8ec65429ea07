import SQL
import TestSupport
import Testing

@testable import MessagingStore

extension `Following` {
    @Test func `an older database takes back what nobody has seen yet`() async throws {
        let folder = TemporaryFolder()
        let old = try Database.open(
            folder.database, migrations: Array(DatabaseSchema.migrations.prefix(7)))
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
        let sample = try await SampleApplication(at: folder.database)
        let rows = try await sample.database.read { transaction in
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
        let sample = try await SampleApplication(at: folder.database)
        let rows = try await sample.database.read { transaction in
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
        let users = try await sample.database.read { transaction in
            try transaction.rows(
                "SELECT user_id, standing, following_count FROM identities ORDER BY user_id"
            ) { row in "\(try row.text(0)) \(try row.int64(1)) \(try row.int64(2))" }
        }
        #expect(users == ["ana 2 2", "bo 1 2", "cy 1 2"])
    }
}
