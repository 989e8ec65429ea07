import Dispatch
import Locking

/// Moves the write-ahead log into the database file, off the writer's path.
///
/// The long part runs here while the writer goes on; the writer itself copies the few pages that came
/// in meanwhile, because only a log that is copied to its end is begun anew. Without that second step
/// a log under steady load never ends, and without the first each of those commits would wait long.
final class Checkpointer: Sendable {
    private let queue = DispatchQueue(label: "sql.checkpointer")
    private let connection: Locked<SQLiteConnection>
    private let interval: Int
    private let progress: Locked<Progress>

    private struct Progress {
        var isRunning = false
        var needsCompletion = false
        /// How long the log has to be for the next round.
        var nextRound: Int
    }

    /// - Parameter interval: Pages of the log after which they are moved.
    init(_ connection: sending SQLiteConnection, interval: Int) {
        self.connection = Locked(connection)
        self.interval = interval
        progress = Locked(Progress(nextRound: interval))
    }

    /// Begins a round when the log has grown enough; called by the writer after each commit.
    func observe(walPages pages: Int) {
        let begins = progress.withLock { [interval] progress -> Bool in
            if pages < interval { progress.nextRound = interval }
            guard pages >= progress.nextRound, !progress.isRunning else { return false }
            progress.isRunning = true
            // A reader may hold the log: then it grows by this much before we try again.
            progress.nextRound = pages + interval
            return true
        }
        if begins { queue.async { self.runRound() } }
    }

    /// Copies what is left after a round; called by the writer between two transactions.
    func completeCheckpoint(on writer: SQLiteConnection) {
        let isNeeded = progress.withLock { progress -> Bool in
            defer { progress.needsCompletion = false }
            return progress.needsCompletion
        }
        // Nothing is lost when it fails: the pages stay in the log for the next round.
        if isNeeded { try? writer.checkpoint(.passive) }
    }

    /// Waits for a running round and lets go of the file.
    func close() {
        queue.sync { connection.withLock { $0.close() } }
    }

    private func runRound() {
        // Nothing is lost when it fails: the pages stay in the log for the next round.
        connection.withLock { connection in try? connection.checkpoint(.passive) }
        progress.withLock { progress in
            progress.isRunning = false
            progress.needsCompletion = true
        }
    }
}
