import SystemSupport

/// How many handlers work at once, and who waits for one of them to end (H187).
///
/// One lock for all loops, some 30 ns for a request that is not answered at once; answers from the
/// head alone never come here.
final class HandlerQueue: Sendable {
    /// What becomes of a request.
    enum Decision {
        /// It has a slot, which it gives back by ``leave()``.
        case start
        /// It has a place, and is started with a slot when its turn comes.
        case wait(Place)
        /// There are too many already.
        case refuse
    }

    /// Names one who waits.
    struct Place: Hashable {
        fileprivate let number: UInt64
    }

    fileprivate struct State {
        var limit: Int
        var room: Int
        var running = 0
        /// Who waits, by place; the places in `order` that are missing here have been given up.
        var waiting: [Place: @Sendable () -> Void] = [:]
        var order: [Place] = []
        /// Where `order` begins.
        var front = 0
        var lastPlace: UInt64 = 0
    }

    private let state: Locked<State>

    /// - Parameters:
    ///   - limit: `maxConcurrentRequests`.
    ///   - room: `maxQueue`.
    init(limit: Int, room: Int) { state = Locked(State(limit: limit, room: room)) }

    /// Takes new limits; who has a slot or a place keeps it.
    func set(limit: Int, room: Int) {
        let starting = state.withLock { state in
            state.limit = limit
            state.room = room
            var starting: [@Sendable () -> Void] = []
            while state.running < limit, let start = state.next() {
                state.running += 1
                starting.append(start)
            }
            return starting
        }
        for start in starting { start() }
    }

    /// Asks for a slot, which most find free: nothing is allocated.
    func takeFreeSlot() -> Bool {
        state.withLock { state in
            guard state.running < state.limit else { return false }
            state.running += 1
            return true
        }
    }

    /// Asks for a slot, or else for a place.
    ///
    /// - Parameter start: Called once a slot has become free, on any thread.
    func enter(_ start: @escaping @Sendable () -> Void) -> Decision {
        state.withLock { state in
            if state.running < state.limit {
                state.running += 1
                return .start
            }
            guard state.waiting.count < state.room else { return .refuse }
            state.lastPlace += 1
            let place = Place(number: state.lastPlace)
            state.waiting[place] = start
            state.order.append(place)
            return .wait(place)
        }
    }

    /// Gives a slot back: whoever has waited longest gets it.
    func leave() {
        let start = state.withLock { state in
            let start = state.next()
            if start == nil { state.running -= 1 }
            return start
        }
        start?()
    }

    /// Gives a place up.
    ///
    /// - Returns: False when its turn had come: it has a slot, or will hear of it.
    @discardableResult func cancelWait(_ place: Place) -> Bool {
        state.withLock { state in
            defer { state.tidy() }
            return state.waiting.removeValue(forKey: place) != nil
        }
    }

    /// How many work and how many wait.
    var counts: (running: Int, waiting: Int) {
        state.withLock { state in (state.running, state.waiting.count) }
    }
}

extension HandlerQueue.State {
    /// Takes out who has waited longest.
    fileprivate mutating func next() -> (@Sendable () -> Void)? {
        defer { tidy() }
        while front < order.count {
            front += 1
            if let start = waiting.removeValue(forKey: order[front - 1]) { return start }
        }
        return nil
    }

    /// Forgets what has been served or given up, once that is most of the order.
    fileprivate mutating func tidy() {
        guard order.count > 64, order.count > 2 * waiting.count else { return }
        order = order[front...].filter { place in waiting[place] != nil }
        front = 0
    }
}
