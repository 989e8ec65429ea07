import Dispatch
import Locking

/// A few connections that only read, each on a thread of its own.
///
/// Whoever waits longest gets the connection that is free first.
final class Readers: Sendable {
    private let lanes: [Lane]
    private let line: Locked<Line>

    private struct Lane {
        let queue: DispatchQueue
        let connection: Locked<any Connection>
    }

    /// Who waits, and which lanes have nothing to do.
    private struct Line {
        var waiting: [Look] = []
        var idle: [Int]
        var isClosed = false
    }

    /// A caller who wants to read.
    struct Look: Sendable {
        let run: @Sendable (any Connection) -> Void
        let refuse: @Sendable () -> Void
    }

    /// Opens `count` connections, at least one.
    init(count: Int, open: () throws(SQLError) -> sending any Connection) throws(SQLError) {
        var lanes: [Lane] = []
        for number in 0..<max(count, 1) {
            lanes.append(
                Lane(
                    queue: DispatchQueue(label: "sql.reader.\(number)"),
                    connection: Locked(try open())))
        }
        self.lanes = lanes
        line = Locked(Line(idle: Array(lanes.indices)))
    }

    /// How many are at work.
    var busy: Int { lanes.count - line.withLock { $0.idle.count } }

    /// How many looks wait for one.
    var waiting: Int { line.withLock { $0.waiting.count } }

    func enqueue(_ look: Look) {
        enum Place { case lane(Int), behind, refused }
        let place = line.withLock { line -> Place in
            guard !line.isClosed else { return .refused }
            if let lane = line.idle.popLast() { return .lane(lane) }
            line.waiting.append(look)
            return .behind
        }
        switch place {
        case .lane(let lane): lanes[lane].queue.async { self.serve(look, on: lane) }
        case .behind: break
        case .refused: look.refuse()
        }
    }

    /// Serves who waits already and refuses who comes later.
    func close() {
        line.withLock { $0.isClosed = true }
        for lane in lanes {
            lane.queue.sync { lane.connection.withLock { $0.close() } }
        }
    }

    private func serve(_ first: Look, on lane: Int) {
        var look: Look? = first
        while let current = look {
            lanes[lane].connection.withLock { connection in current.run(connection) }
            look = next(for: lane)
        }
    }

    private func next(for lane: Int) -> Look? {
        line.withLock { line in
            guard line.waiting.isEmpty else { return line.waiting.removeFirst() }
            line.idle.append(lane)
            return nil
        }
    }
}
