import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `The schema` {
    @Test(arguments: 1...Schema.migrations.count) func `grows from empty through every release`(
        released: Int
    ) async throws {
        let folder = TemporaryFolder()
        let old = try Database.open(
            folder.database, migrations: Array(Schema.migrations.prefix(released)))
        old.close()
        let shop = try await Shop(at: folder.database)
        try await shop.conversation()
        #expect(try await shop.texts(of: shop.view(of: .ana).id) == [])
    }

    @Test func `migrations are numbered without gaps`() {
        #expect(Schema.migrations.map(\.number) == Array(1...Schema.migrations.count))
    }

    @Test func `every table and every key starts with the application`() async throws {
        let shop = try await Shop()
        let exceptions: Set = [
            "tokens_by_digest", "contents_by_name", "exports_by_name", "scheduled_messages_by_time",
        ]
        let firsts = try await shop.database.read { transaction in
            try transaction.rows(
                """
                SELECT m.name, i.name FROM sqlite_master m, pragma_index_info(m.name) i
                WHERE m.type = 'index' AND i.seqno = 0 AND m.tbl_name <> 'schema_migrations'
                """
            ) { row in (index: try row.text(0), column: try row.text(1)) }
        }
        let others = firsts.filter { first in first.column != "application" }.map(\.index)
        #expect(Set(others) == exceptions)
    }
}
