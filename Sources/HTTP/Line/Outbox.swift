internal import Locking

/// What waits to leave by a line, handed over from any thread and bounded in octets and in messages
/// (H144, H156).
///
/// A slow peer fills first the line, up to the server's `writeHigh`, then this. Buffers are shared
/// and never copied; an empty outbox owns none.
final class Outbox: Sendable {
    private struct State {
        var line: (any Line)?
        var early: [@Sendable () -> Void] = []
        var waiting: [[UInt8]] = []
        /// How many at the front of `waiting` have left.
        var gone = 0
        var octets = 0
        /// Somebody is going to flush: a wake-up under way, or the line when it has drained.
        var awaitsFlush = false
        var isShut = false
        var hasOverflown = false

        mutating func drop() {
            waiting = []
            gone = 0
            octets = 0
        }
    }

    private let state = Locked(State())
    private let maximumOctets: Int
    private let maximumMessages: Int

    init(maximumOctets: Int, maximumMessages: Int) {
        self.maximumOctets = maximumOctets
        self.maximumMessages = maximumMessages
    }

    /// The line, while there is one.
    var line: (any Line)? { state.withLock { state in state.line } }

    /// True once a message did not fit; everything that waited is dropped then.
    var hasOverflown: Bool { state.withLock { state in state.hasOverflown } }

    /// Whether something waits for the line.
    var isWaiting: Bool { state.withLock { state in state.octets > 0 } }

    /// Gives it a line, and does there what was asked for earlier.
    func connect(_ line: any Line) {
        let early = state.withLock { state in
            state.line = line
            let early = state.early
            state.early = []
            return early
        }
        for work in early { work() }
    }

    /// Runs something on the line's loop: now, or as soon as there is a line; never after its end.
    func perform(_ work: @escaping @Sendable () -> Void) {
        let line = state.withLock { state -> (any Line)? in
            if state.line == nil, !state.isShut { state.early.append(work) }
            return state.line
        }
        line?.perform(work)
    }

    /// Queues octets behind everything else, from any thread.
    ///
    /// - Parameter wake: Called on the loop when somebody has to flush or to see the overflow.
    /// - Returns: False when they will not be sent: the outbox is shut, or they do not fit behind
    ///   what waits.
    func put(_ octets: [UInt8], wake: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, mustWake) = state.withLock { state -> (Bool, Bool) in
            guard !state.isShut else { return (false, false) }
            // One message alone is no queue: the largest that may come may also be sent back.
            let isTaken =
                state.octets == 0
                || state.octets + octets.count <= maximumOctets
                    && state.waiting.count - state.gone < maximumMessages
            if isTaken {
                state.waiting.append(octets)
                state.octets += octets.count
            } else {
                state.drop()
                state.isShut = true
                state.hasOverflown = true
            }
            let mustWake = !state.awaitsFlush || state.hasOverflown
            state.awaitsFlush = true
            return (isTaken, mustWake)
        }
        if mustWake { perform(wake) }
        return isTaken
    }

    /// Hands over what the line has room for; on the loop.
    ///
    /// - Returns: False when more waits for the line to drain.
    @discardableResult func flush() -> Bool {
        guard let line else { return true }
        while !line.isFull {
            guard let octets = next() else { return true }
            line.send(octets)
        }
        return false
    }

    /// The next octets; once there are none, the next ``put(_:wake:)`` wakes somebody again.
    private func next() -> [UInt8]? {
        state.withLock { state in
            guard state.gone < state.waiting.count else {
                state.drop()
                state.awaitsFlush = false
                return nil
            }
            let octets = state.waiting[state.gone]
            state.waiting[state.gone] = []
            state.gone += 1
            state.octets -= octets.count
            if state.gone == state.waiting.count { state.drop() }
            return octets
        }
    }

    /// Takes nothing more; what waits still leaves, and after it these octets.
    ///
    /// - Returns: False when it had been shut before.
    func shut(after last: [UInt8]) -> Bool {
        state.withLock { state in
            guard !state.isShut else { return false }
            state.isShut = true
            state.waiting.append(last)
            state.octets += last.count
            return true
        }
    }

    /// Takes nothing more and drops what waits.
    func shut() {
        state.withLock { state in
            state.isShut = true
            state.drop()
        }
    }

    /// The line is gone.
    func disconnect() {
        state.withLock { state in
            state.line = nil
            state.early = []
            state.isShut = true
            state.drop()
        }
    }
}
