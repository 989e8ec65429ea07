public import Messaging
import SQL

/// A process that serves a database together with others.
public struct ServerProcess: Equatable, Sendable {
    /// Its id: eight hexadecimal digits, new with each start.
    public let id: String
    /// Its release.
    public let version: String
    /// When it started.
    public let startedAt: Timestamp
    /// When it last reported itself.
    public let lastSeenAt: Timestamp
    /// The names of the leases that it holds.
    public let leases: [String]
    /// The latest sample of its counters, as JSON.
    public let statistics: String

    /// All members.
    public init(
        id: String, version: String, startedAt: Timestamp, lastSeenAt: Timestamp,
        leases: [String], statistics: String
    ) {
        self.id = id
        self.version = version
        self.startedAt = startedAt
        self.lastSeenAt = lastSeenAt
        self.leases = leases
        self.statistics = statistics
    }

    /// The interval of the reports, in milliseconds.
    public static let interval: Int64 = 10_000
    /// How long after its last report a process counts as running, in milliseconds.
    static let lifetime: Int64 = 3 * interval
    /// How long the row of a process that has stopped reporting is stored, in milliseconds: an hour.
    static let retention: Int64 = 3_600_000
}

extension MessagingStore {
    /// Reports this process to the others, and deletes the rows of those that stopped reporting long ago.
    ///
    /// - Parameter statistics: The latest sample of its counters, as JSON.
    public func reportProcess(
        version: String, startedAt: Timestamp, statistics: String
    ) async throws {
        let now = environment.now()
        let oldest = Timestamp(milliseconds: now.milliseconds - ServerProcess.retention)
        try await database.write { [process] transaction in
            try transaction.execute(
                """
                INSERT INTO processes (id, version, started_at, last_seen_at, stats)
                VALUES (\(process), \(version), \(startedAt), \(now), \(statistics))
                ON CONFLICT (id) DO UPDATE
                SET last_seen_at = excluded.last_seen_at, stats = excluded.stats
                """)
            try transaction.execute("DELETE FROM processes WHERE last_seen_at < \(oldest)")
        }
    }

    /// Removes the row of this process, which is stopping.
    public func removeProcess() async throws {
        try await database.write { [process] transaction in
            try transaction.execute("DELETE FROM processes WHERE id = \(process)")
        }
    }

    /// The processes that have reported themselves within an hour, the latest report first, with the leases they hold.
    public func processes() async throws -> [ServerProcess] {
        let oldest = environment.now().milliseconds - ServerProcess.retention
        return try await database.read { transaction in
            let leases = try transaction.rows(
                "SELECT name, holder FROM leases WHERE holder IS NOT NULL ORDER BY name LIMIT 100"
            ) { row in
                (
                    name: try row.text(0),
                    process: String(decoding: try row.blob(1).prefix(8), as: UTF8.self)
                )
            }
            return try transaction.rows(.processes(seenSince: Timestamp(milliseconds: oldest))) {
                row in
                let id = try row.text(0)
                return ServerProcess(
                    id: id, version: try row.text(1), startedAt: try row.timestamp(2),
                    lastSeenAt: try row.timestamp(3),
                    leases: leases.filter { lease in lease.process == id }.map(\.name),
                    statistics: try row.text(4))
            }
        }
    }
}

extension SQL {
    /// The processes, the latest report first.
    static func processes(seenSince moment: Timestamp) -> SQL {
        """
        SELECT id, version, started_at, last_seen_at, stats FROM processes
        WHERE last_seen_at >= \(moment) ORDER BY last_seen_at DESC LIMIT 100
        """
    }
}

extension Transaction {
    /// Whether a process still runs, as far as its reports tell.
    func isProcessRunning(_ id: String, at now: Timestamp) throws -> Bool {
        let seen = try first("SELECT last_seen_at FROM processes WHERE id = \(id)") { row in
            try row.timestamp(0)
        }
        return seen.map { seen in now.milliseconds - seen.milliseconds < ServerProcess.lifetime }
            ?? false
    }
}
