import Dispatch
import SystemSupport

/// Copies the write-ahead log into the database file on its own thread.
///
/// The checkpoint runs while the writer commits. The writer then copies the few pages that were added
/// meanwhile, because SQLite restarts the log only when all of it has been copied. Without that second step the
/// log grows without limit under steady load; without the first, commits would wait for whole checkpoints.
///
/// A log that has not grown for a while is copied as well, however short it is: a reader looks up each page in the log,
/// among all its versions there, unless all of them are in the file.
final class Checkpointer: Sendable {
    private let queue = DispatchQueue(label: "sql.checkpointer")
    private let connection: Locked<SQLiteConnection>
    private let interval: Int
    private let quietTime: Duration
    private let progress: Locked<Progress>

    private struct Progress {
        var isRunning = false
        var needsCompletion = false
        /// The length of the log, in pages, that starts the next checkpoint.
        var nextStart: Int
        var commits = 0
        /// Whether the end of the commits is awaited.
        var awaitsQuiet = false
    }

    /// - Parameters:
    ///   - interval: The length of the log, in pages, that starts a checkpoint.
    ///   - quietTime: The time without a commit that starts a checkpoint.
    init(_ connection: sending SQLiteConnection, interval: Int, quietTime: Duration) {
        self.connection = Locked(connection)
        self.interval = interval
        self.quietTime = quietTime
        progress = Locked(Progress(nextStart: interval))
    }

    /// Starts a checkpoint when the log is long enough; called by the writer after each commit.
    func observe(walPages pages: Int) {
        awaitQuiet()
        let starts = progress.withLock { [interval] progress -> Bool in
            if pages < interval { progress.nextStart = interval }
            guard pages >= progress.nextStart, !progress.isRunning else { return false }
            progress.isRunning = true
            // A reader may keep the log from being copied; the next attempt comes one interval later.
            progress.nextStart = pages + interval
            return true
        }
        if starts { queue.async { self.runCheckpoint() } }
    }

    /// Notes a commit, and waits for the end of the commits unless it is awaited already.
    private func awaitQuiet() {
        let commits = progress.withLock { progress -> Int? in
            progress.commits += 1
            guard !progress.awaitsQuiet else { return nil }
            progress.awaitsQuiet = true
            return progress.commits
        }
        if let commits { checkQuiet(since: commits) }
    }

    /// - Parameter commits: The number of commits at the beginning of the quiet time.
    private func checkQuiet(since commits: Int) {
        queue.asyncAfter(deadline: .now() + quietTime / .seconds(1)) { [weak self] in
            guard let self else { return }
            let now = progress.withLock { progress -> Int in
                progress.awaitsQuiet = progress.commits > commits
                return progress.commits
            }
            if now > commits { checkQuiet(since: now) } else { runCheckpoint() }
        }
    }

    /// Copies the rest after a checkpoint; called by the writer between two transactions.
    func completeCheckpoint(on writer: SQLiteConnection) {
        let isNeeded = progress.withLock { progress -> Bool in
            defer { progress.needsCompletion = false }
            return progress.needsCompletion
        }
        // A failure loses nothing: the pages stay in the log for the next checkpoint.
        if isNeeded { try? writer.checkpoint(.passive) }
    }

    /// Waits for a running checkpoint and closes the connection.
    func close() {
        queue.sync { connection.withLock { $0.close() } }
    }

    private func runCheckpoint() {
        // A failure loses nothing: the pages stay in the log for the next checkpoint.
        connection.withLock { connection in try? connection.checkpoint(.passive) }
        progress.withLock { progress in
            progress.isRunning = false
            progress.needsCompletion = true
        }
    }
}
