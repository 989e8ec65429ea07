import Messaging
import SQL
import SQLPostgres
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `The schema` {
    @Test func `opening a database again changes nothing`() async throws {
        let folder = TemporaryFolder()
        try Database.open(folder.database, migrations: DatabaseSchema.migrations).close()
        let sample = try await SampleApplication(at: folder.database)
        try await sample.conversation()
        #expect(try await sample.texts(of: sample.view(of: .ana).id) == [])
    }

    @Test func `a database of a development version is rejected`() throws {
        let folder = TemporaryFolder()
        let old = SchemaMigration(
            number: 1, name: "messaging", statements: ["CREATE TABLE events (position BIGINT)"])
        try Database.open(folder.database, migrations: [old]).close()
        #expect {
            try Database.open(folder.database, migrations: DatabaseSchema.migrations)
        } throws: { error in
            (error as? SQLError)?.kind == .schema
        }
    }

    @Test func `migrations are numbered without gaps`() {
        #expect(
            DatabaseSchema.migrations.map(\.number) == Array(1...DatabaseSchema.migrations.count))
    }

    @Test(.enabled(if: onSQLite)) func `every table and every key starts with the application id`()
        async throws
    {
        let sample = try await SampleApplication()
        let exceptions: Set = [
            "tokens_by_digest", "sessions_by_digest", "providers_by_id", "provider_keys_by_id",
            "contents_by_name", "exports_by_name", "scheduled_messages_by_time",
            "scheduled_messages_by_typing",
            "used_nonces_by_nonce",
        ]
        let firsts = try await sample.database.read { transaction in
            try transaction.rows(
                """
                SELECT m.name, i.name FROM sqlite_master m, pragma_index_info(m.name) i
                WHERE m.type = 'index' AND i.seqno = 0
                    AND m.tbl_name NOT IN (
                        'schema_migrations', 'leases', 'uploads', 'secrets', 'operators',
                        'console_sessions', 'console_links', 'audit_log', 'audit_events',
                        'processes', 'console_jobs'
                    )
                """
            ) { row in (index: try row.text(0), column: try row.text(1)) }
        }
        let others = firsts.filter { first in first.column != "application" }.map(\.index)
        #expect(Set(others) == exceptions)
    }
}
