import SQL
import Testing

@testable import MessagingStore

extension Shop {
    /// Expects that the rows made again from the events are the rows (X3).
    func expectSameRowsAgain(_ place: Comment? = nil) async throws {
        let events = try await events()
        let location = DatabaseLocation.scratch()
        let again = try Database.open(location, migrations: MessagingStore.migrations)
        try await again.write { [application] transaction in
            for recorded in events {
                var projection = Projection(
                    transaction: transaction, application: application,
                    hash: StoreEnvironment.live.sha256, position: recorded.position)
                projection.trace = recorded.trace
                try projection.apply(recorded.event)
            }
        }
        // Of webhooks the log tells, and makes none: it holds no secrets.
        let left: Set = [
            "schema_migrations", "events", "log_positions", "webhooks", "former_secrets",
            "dropped_webhooks", "webhook_stretches",
        ]
        let live = try await rows(except: left)
        #expect(try await Shop.rows(of: again, except: left) == live, place)
        again.close()
        location.clear()
    }
}
