package import Locking

/// A small, fixed number of queues, so that many uploads cost few threads.
package struct WorkQueues: Sendable {
    private let queues: [WorkQueue]

    /// Makes `count` queues, at least one.
    package init(_ label: String, count: Int) {
        queues = (0..<max(1, count)).map { number in WorkQueue("\(label).\(number)") }
    }

    /// The queue of one file: always the same, so its work stays in order.
    package subscript(name: BlobName) -> WorkQueue {
        // Names are random at their end, so the last characters spread best.
        let sum = name.text.utf8.suffix(8).reduce(0) { sum, byte in sum &* 31 &+ Int(byte) }
        return queues[abs(sum) % queues.count]
    }
}
