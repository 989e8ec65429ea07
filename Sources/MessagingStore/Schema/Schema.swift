import SQL

/// The schema's history. A released migration is never edited; a change is a new one.
enum DatabaseSchema {
    static let migrations = [
        SchemaMigration.messaging, .views, .users, .parts, .outbox, .keys, .exports, .sight,
        .present,
        .bounds, .contents, .leases, .readers, .merging, .webhooks, .deliveries, .uploads, .digests,
        .traces, .stretches, .last, .lists, .history, .blockPeriods,
        .uploadWriters,
    ]
}
