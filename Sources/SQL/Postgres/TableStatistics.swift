import Dispatch
import Locking

/// Has a server learn how large its tables have become, on a connection and a thread of its own.
///
/// Until it knows, it takes all rows of an application to be few, reads them all where some are named,
/// and keeps that plan however many there are. Autovacuum, where it runs, comes within a minute or two, in
/// which a hundred thousand rows may have been added; whoever restores a dump has no statistics at all.
///
/// Nothing depends on it but speed: a look that fails is only followed by the next one.
final class TableStatistics: Sendable {
    /// From a commit to the look that follows it: at first, and again when tables have grown; twice as
    /// long each time there was nothing to do.
    private static let patience = (least: 500, most: 64_000)

    private struct State {
        /// How long the next commit waits for its look, in milliseconds.
        var patience = TableStatistics.patience.least
        var isAwaited = false
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

    /// Something was committed, so tables may have grown; also to be called when nobody knows.
    func grown() {
        let wait = state.withLock { state -> Int? in
            guard !state.isAwaited, !state.isOver else { return nil }
            state.isAwaited = true
            return state.patience
        }
        guard let wait else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(wait)) { self.look() }
    }

    /// Looks no more, and waits for a look under way.
    func stop() {
        state.withLock { state in state.isOver = true }
        queue.sync {}
    }

    private func look() {
        guard !state.withLock({ state in state.isOver }) else { return }
        let hasFound = (try? analyze()) ?? false
        state.withLock { state in
            state.isAwaited = false
            state.patience =
                hasFound
                ? Self.patience.least : min(2 * state.patience, Self.patience.most)
        }
    }

    /// Has tables analysed that have more than doubled since.
    ///
    /// - Returns: Whether there were any.
    private func analyze() throws -> Bool {
        let connection = PostgresConnection(to: url, session)
        defer { connection.close() }
        let analyses = try connection.read { transaction in
            try transaction.rows(PostgresDialect.analyses) { row in try row.text(0) }
        }
        // One after the other: each lets go of its table at once. Committed, as a look is not.
        for words in analyses {
            try connection.begin(.reading)
            try connection.execute(SQL(stringLiteral: words))
            try connection.commit()
        }
        return !analyses.isEmpty
    }
}
