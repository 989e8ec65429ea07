import SystemSupport

/// Limits the handlers that run at the same time, and queues further requests (H187).
///
/// One lock for all loops costs about 30 ns for each request that needs a handler; responses made from the
/// head alone do not use it.
final class HandlerQueue: Sendable {
    /// The decision about a request.
    enum Decision {
        /// It has a slot, and must release it with ``releaseSlot()``.
        case start
        /// It is queued, and is started with a slot later.
        case wait(Entry)
        /// The queue is full.
        case refuse
    }

    /// The identity of a queued request.
    struct Entry: Hashable {
        fileprivate let number: UInt64
    }

    fileprivate struct State {
        var limit: Int
        var capacity: Int
        var running = 0
        /// The queued requests. Entries of `order` that are missing here were cancelled.
        var waiting: [Entry: @Sendable () -> Void] = [:]
        var order: [Entry] = []
        /// The index of the first entry of `order` that is not served.
        var front = 0
        var lastNumber: UInt64 = 0
    }

    private let state: Locked<State>

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - limit: ``ServerConfiguration/maximumHandlers``.
    ///   - capacity: ``ServerConfiguration/maximumQueue``.
    init(limit: Int, capacity: Int) { state = Locked(State(limit: limit, capacity: capacity)) }

    /// Changes the limits; running and queued requests are not affected.
    func set(limit: Int, capacity: Int) {
        let starting = state.withLock { state in
            state.limit = limit
            state.capacity = capacity
            var starting: [@Sendable () -> Void] = []
            while state.running < limit, let start = state.takeNext() {
                state.running += 1
                starting.append(start)
            }
            return starting
        }
        for start in starting { start() }
    }

    /// Takes a slot if one is free; allocates nothing.
    func takeFreeSlot() -> Bool {
        state.withLock { state in
            guard state.running < state.limit else { return false }
            state.running += 1
            return true
        }
    }

    /// Takes a slot, or queues the request.
    ///
    /// - Parameter start: Called on any thread when a slot has become free.
    func requestSlot(_ start: @escaping @Sendable () -> Void) -> Decision {
        state.withLock { state in
            if state.running < state.limit {
                state.running += 1
                return .start
            }
            guard state.waiting.count < state.capacity else { return .refuse }
            state.lastNumber += 1
            let entry = Entry(number: state.lastNumber)
            state.waiting[entry] = start
            state.order.append(entry)
            return .wait(entry)
        }
    }

    /// Releases a slot; the request that has waited longest gets it.
    func releaseSlot() {
        let start = state.withLock { state in
            let start = state.takeNext()
            if start == nil { state.running -= 1 }
            return start
        }
        start?()
    }

    /// Removes a request from the queue.
    ///
    /// - Returns: False when it has left the queue already: it has a slot, or `start` is about to be called.
    @discardableResult func cancelWait(_ entry: Entry) -> Bool {
        state.withLock { state in
            defer { state.removeStaleEntries() }
            return state.waiting.removeValue(forKey: entry) != nil
        }
    }

    /// The numbers of running and queued requests.
    var counts: (running: Int, waiting: Int) {
        state.withLock { state in (state.running, state.waiting.count) }
    }
}

extension HandlerQueue.State {
    /// Removes the request that has waited longest.
    fileprivate mutating func takeNext() -> (@Sendable () -> Void)? {
        defer { removeStaleEntries() }
        while front < order.count {
            front += 1
            if let start = waiting.removeValue(forKey: order[front - 1]) { return start }
        }
        return nil
    }

    /// Removes served and cancelled entries when they are most of `order`.
    fileprivate mutating func removeStaleEntries() {
        guard order.count > 64, order.count > 2 * waiting.count else { return }
        order = order[front...].filter { entry in waiting[entry] != nil }
        front = 0
    }
}
