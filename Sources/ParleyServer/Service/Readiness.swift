import Synchronization

/// Whether this process wants new requests; false from the stop signal on (H194), and once its database has
/// been found damaged, which does not pass.
final class Readiness: Sendable {
    private let ending = Atomic<Bool>(false)

    var isOver: Bool { ending.load(ordering: .relaxed) }

    /// - Returns: Whether it was not over before.
    @discardableResult
    func end() -> Bool { !ending.exchange(true, ordering: .relaxed) }
}
