import Dispatch
import Locking

/// Runs all changes, one after the other, many to a transaction.
///
/// While one commit syncs the disk, changes queue up; the next transaction takes them all. Nobody waits
/// for a batch to fill, and nobody hears "done" before it is on disk.
final class Writer: Sendable {
    /// The most changes of one transaction: beyond it a batch only makes its first caller wait longer.
    static let batchLimit = 256

    private let queue = DispatchQueue(label: "sql.writer")
    private let connection: Locked<any Connection>
    private let onCommit: @Sendable (Duration) -> Void
    private let line = Locked(Line())

    /// Who waits, and whether somebody serves them.
    private struct Line {
        var waiting: [Mutation] = []
        var isServed = false
        var isClosed = false
        var statistics = WriterStatistics()
    }

    init(
        _ connection: sending any Connection, onCommit: @escaping @Sendable (Duration) -> Void
    ) {
        self.connection = Locked(connection)
        self.onCommit = onCommit
    }

    /// How many wait for the next transaction.
    var waiting: Int { line.withLock { $0.waiting.count } }

    var statistics: WriterStatistics { line.withLock { $0.statistics } }

    func enqueue(_ mutation: Mutation) {
        enum Place { case first, behind, refused }
        let place = line.withLock { line -> Place in
            guard !line.isClosed else { return .refused }
            line.waiting.append(mutation)
            defer { line.isServed = true }
            return line.isServed ? .behind : .first
        }
        switch place {
        case .first: queue.async { self.serve() }
        case .behind: break
        case .refused: mutation.fail(SQLError.closed)
        }
    }

    /// Serves who waits already, refuses who comes later, and lets go of the database.
    func close() {
        line.withLock { $0.isClosed = true }
        // The queue is serial: whoever waited was given to it before this.
        queue.sync {
            connection.withLock { connection in connection.close() }
        }
    }

    private func serve() {
        while let batch = nextBatch() {
            for answer in commit(batch) { answer() }
            connection.withLock { connection in connection.tidyUp() }
        }
    }

    private func commit(_ batch: [Mutation]) -> [BatchCommit.Answer] {
        connection.withLock { connection in
            var commit = BatchCommit(batch, on: connection, counting: statistics)
            let start = ContinuousClock.now
            let answers = commit.run()
            onCommit(start.duration(to: .now))
            let statistics = commit.statistics
            line.withLock { $0.statistics = statistics }
            return answers
        }
    }

    private func nextBatch() -> [Mutation]? {
        line.withLock { line in
            guard !line.waiting.isEmpty else {
                line.isServed = false
                return nil
            }
            let batch = Array(line.waiting.prefix(Self.batchLimit))
            line.waiting.removeFirst(batch.count)
            return batch
        }
    }
}
