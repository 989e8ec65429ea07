import Synchronization

/// What all requests together may hold of bodies that are read into memory as a whole (H186).
final class BodyBudget: Sendable {
    private let used = Atomic<Int>(0)
    private let limit: Atomic<Int>

    /// - Parameter limit: `maxBufferedBodies`, in octets.
    init(limit: Int) { self.limit = Atomic(limit) }

    /// Takes a new limit; what is held stays held.
    func set(limit: Int) { self.limit.store(limit, ordering: .relaxed) }

    /// Holds so many octets more, or none of them.
    func take(_ count: Int) -> Bool {
        let now = used.add(count, ordering: .relaxed).newValue
        guard now > limit.load(ordering: .relaxed) else { return true }
        give(back: count)
        return false
    }

    /// Holds so many octets less.
    func give(back count: Int) { used.subtract(count, ordering: .relaxed) }

    /// How many octets are held.
    var count: Int { used.load(ordering: .relaxed) }
}
