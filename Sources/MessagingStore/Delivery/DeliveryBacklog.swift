import SQL

/// What webhooks have not been sent.
public struct DeliveryBacklog: Equatable, Sendable {
    /// Deliveries that wait for their turn, or for another try.
    public var pending = 0
    /// Deliveries that were given up and are still kept.
    public var dead = 0

    /// Nothing.
    public init() {}
}

extension MessagingStore {
    /// What the webhooks there are have not been sent, of all applications.
    ///
    /// It is counted in an index: 100,000 of them take some milliseconds.
    public func deliveryBacklog() async throws -> DeliveryBacklog {
        try await database.read { transaction in
            try transaction.first(.deliveryBacklog) { row in
                var backlog = DeliveryBacklog()
                backlog.pending = Int(try row.int64(0))
                backlog.dead = Int(try row.int64(1))
                return backlog
            } ?? DeliveryBacklog()
        }
    }
}

extension SQL {
    /// How many deliveries are pending, and how many dead; a join would let SQLite read those that are over.
    static var deliveryBacklog: SQL {
        """
        SELECT CAST(COALESCE(SUM((\(count("pending")))), 0) AS BIGINT),
            CAST(COALESCE(SUM((\(count("dead")))), 0) AS BIGINT)
        FROM webhooks w
        """
    }

    private static func count(_ state: StaticString) -> SQL {
        """
        SELECT COUNT(*) FROM deliveries d
        WHERE d.application = w.application AND d.webhook = w.id AND d.state = '\(raw: state)'
        """
    }
}
