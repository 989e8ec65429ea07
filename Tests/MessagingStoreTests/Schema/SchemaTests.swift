import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `The schema` {
    @Test(arguments: 1...DatabaseSchema.migrations.count)
    func `grows from empty through every release`(
        released: Int
    ) async throws {
        let folder = TemporaryFolder()
        let old = try Database.open(
            folder.database, migrations: Array(DatabaseSchema.migrations.prefix(released)))
        old.close()
        let sample = try await SampleApplication(at: folder.database)
        try await sample.conversation()
        #expect(try await sample.texts(of: sample.view(of: .ana).id) == [])
    }

    @Test func `contents of before are counted by what shows them`() async throws {
        let folder = TemporaryFolder()
        let earlier = DatabaseSchema.migrations.filter {
            $0.number < SchemaMigration.contents.number
        }
        let old = try Database.open(folder.database, migrations: earlier)
        try await old.write { transaction in
            let application: [UInt8] = [7]
            try transaction.execute(
                """
                INSERT INTO applications (application, name, created_at, is_suspended)
                VALUES (\(application), 'a', 0, 0)
                """)
            for content in 1...2 as ClosedRange<UInt8> {
                try transaction.execute(
                    """
                    INSERT INTO contents (
                        application, id, mime_type, size, sha256, crc32c, completed_at
                    ) VALUES (\(application), \([content]), 'a/b', 50, \([content]), 0, 0)
                    """)
            }
            for index in 0...1 {
                try transaction.execute(
                    """
                    INSERT INTO parts (
                        application, message, part_index, id, mime_type, content, size
                    ) VALUES (
                        \(application), \([1] as [UInt8]), \(index), \([UInt8(index)]), 'a/b',
                        \([1] as [UInt8]), 50
                    )
                    """)
            }
        }
        old.close()
        let database = try Database.open(folder.database, migrations: DatabaseSchema.migrations)
        let (counts, bytes) = try await database.read { transaction in
            (
                try transaction.rows("SELECT use_count FROM contents ORDER BY id") { row in
                    try row.int64(0)
                },
                try transaction.first("SELECT content_bytes FROM applications") { row in
                    try row.int64(0)
                }
            )
        }
        database.close()
        #expect(counts == [2, 0])
        #expect(bytes == 100)
    }

    @Test func `migrations are numbered without gaps`() {
        #expect(
            DatabaseSchema.migrations.map(\.number) == Array(1...DatabaseSchema.migrations.count))
    }

    @Test(.enabled(if: onSQLite)) func `every table and every key starts with the application`()
        async throws
    {
        let sample = try await SampleApplication()
        let exceptions: Set = [
            "tokens_by_digest", "contents_by_name", "exports_by_name", "scheduled_messages_by_time",
        ]
        let firsts = try await sample.database.read { transaction in
            try transaction.rows(
                """
                SELECT m.name, i.name FROM sqlite_master m, pragma_index_info(m.name) i
                WHERE m.type = 'index' AND i.seqno = 0
                    AND m.tbl_name NOT IN ('schema_migrations', 'leases', 'uploads', 'secrets')
                """
            ) { row in (index: try row.text(0), column: try row.text(1)) }
        }
        let others = firsts.filter { first in first.column != "application" }.map(\.index)
        #expect(Set(others) == exceptions)
    }
}
