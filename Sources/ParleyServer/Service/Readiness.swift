import Synchronization

/// Whether this process wants new requests; false from the stop signal on (H194).
final class Readiness: Sendable {
    private let stopping = Atomic<Bool>(false)

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    func stop() { stopping.store(true, ordering: .relaxed) }
}
