import Messaging
import SQL

/// Writes the rows that an event changes (``StoredEvent/apply(to:)``).
///
/// The result depends only on the event and the rows, so these rows can be rebuilt by applying the log to an empty
/// database. Rows that no event writes are those of webhooks and their deliveries, leases, uploads, secrets, devices, used nonces
/// and idempotency keys. Webhooks have secrets, which the log must not contain, because every token can read it.
struct Projection {
    let transaction: Transaction
    let application: Application.ID
    /// SHA-256.
    let hash: @Sendable ([UInt8]) -> [UInt8]
    /// The position of the event.
    let position: LogPosition
    /// When the event was recorded.
    let moment: Timestamp
    /// The recipients of the event's message, if they were already loaded.
    var recipientViews: [RecipientView]?
    /// The trace of the event; `nil` for none.
    var trace: Trace?

    /// Stores the id of the object that was created with a replay key; an earlier object of the key stays.
    func remember(_ key: Replay.Key?, as kind: Replay.Kind, for object: [UInt8]) {
        guard let key else { return }
        transaction.add(
            "(\(application), \(kind.rawValue), \(key), \(object))",
            to: "replay_keys", keys: application.bytes + key.bytes,
            by: Self.replayKeys)
    }

    private static let replayKeys = Insertion(
        "INSERT INTO replay_keys (application, kind, replay_key, object) VALUES",
        "ON CONFLICT (application, kind, replay_key) DO NOTHING")
}

extension Transaction {
    /// The id of the object that was created with a replay key; `nil` while the key is unused for this kind.
    func object(
        createdWith key: Replay.Key, as kind: Replay.Kind, in application: Application.ID
    ) throws -> [UInt8]? {
        try queryObject(createdWith: key, as: kind, in: application).first()
    }

    /// Queries the id of the object that was created with a replay key.
    func queryObject(
        createdWith key: Replay.Key, as kind: Replay.Kind, in application: Application.ID
    ) throws -> DeferredRows<[UInt8]> {
        try query(
            """
            SELECT object FROM replay_keys
            WHERE application = \(application) AND kind = \(kind.rawValue)
                AND replay_key = \(key)
            """,
            as: RowCacheKey(
                of: application.bytes + key.bytes, in: "replay_keys",
                aspect: Array(kind.rawValue.utf8))
        ) { row in try row.blob(0) }
    }
}
