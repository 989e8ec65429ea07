import Dispatch
import SQL
import SystemSupport

/// Runs `ANALYZE` on tables as they grow, on its own connection and thread.
///
/// Without statistics the planner assumes few rows per application, scans all of them where keys are given,
/// and caches that plan. Autovacuum runs only every minute or two, in which 100,000 rows may be added; a
/// restored dump has no statistics at all.
///
/// Only speed depends on it: a check that fails is followed by the next one.
final class TableStatistics: Sendable {
    /// The delay from a commit to the check after it, in milliseconds: the least at first and after tables
    /// had grown, doubled after each check without a result, up to the most.
    private static let delay = (least: 500, most: 64_000)

    private struct State {
        /// The delay of the next check, in milliseconds.
        var delay = TableStatistics.delay.least
        var isScheduled = false
        var isOver = false
    }

    private let queue = DispatchQueue(label: "sql.statistics")
    private let url: String
    private let session: PostgresSession
    private let state = Locked(State())

    init(for url: String, _ session: PostgresSession) {
        self.url = url
        self.session = session
    }

    /// Schedules a check; called after each commit.
    func tablesMayHaveGrown() {
        let wait = state.withLock { state -> Int? in
            guard !state.isScheduled, !state.isOver else { return nil }
            state.isScheduled = true
            return state.delay
        }
        guard let wait else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(wait)) { self.check() }
    }

    /// Stops, and waits for a running check.
    func stop() {
        state.withLock { state in state.isOver = true }
        queue.sync {}
    }

    private func check() {
        guard !state.withLock({ state in state.isOver }) else { return }
        let hasAnalyzed = (try? analyze()) ?? false
        state.withLock { state in
            state.isScheduled = false
            state.delay =
                hasAnalyzed
                ? Self.delay.least : min(2 * state.delay, Self.delay.most)
        }
    }

    /// Analyses tables that have more than doubled since they were last analysed.
    ///
    /// - Returns: Whether there were any.
    private func analyze() throws -> Bool {
        let connection = PostgresConnection(to: url, session)
        defer { connection.close() }
        let analyses = try connection.read { transaction in
            try transaction.rows(PostgresDialect.analyses) { row in try row.text(0) }
        }
        // One transaction each, so that each table is locked only for its own analysis; committed, because a
        // read is rolled back.
        for words in analyses {
            try connection.begin(.reading)
            try connection.execute(SQL(stringLiteral: words))
            try connection.commit()
        }
        return !analyses.isEmpty
    }
}
