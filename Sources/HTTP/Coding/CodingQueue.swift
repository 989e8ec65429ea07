package import Locking

/// Where codings are worked on that take long enough to hold up a loop (H184).
package enum CodingQueue {
    /// Octets, before compression or after, that are worked on at once: some 100 µs, about what a
    /// trip to another thread and back costs under load.
    package static let smallPiece = 16 << 10

    /// As many as this machine class has cores; a body stays on one.
    private static let queues = (0..<2).map { number in WorkQueue("parley.coding.\(number)") }

    /// One of them.
    package static func any() -> WorkQueue {
        queues[Int.random(in: queues.indices)]
    }
}
