import HTTP
import Synchronization

/// Lines that a test reaches from its own thread, alive or not.
final class Lines: Sendable {
    private let lines = Mutex<[any Line]>([])

    func add(_ line: any Line) { lines.withLock { lines in lines.append(line) } }
    func forget() { lines.withLock { lines in lines = [] } }

    /// Does something with each of them, on its loop.
    func each(_ work: @escaping @Sendable (any Line) -> Void) {
        for line in lines.withLock({ lines in lines }) { line.perform { work(line) } }
    }
}
