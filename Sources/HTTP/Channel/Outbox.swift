internal import SystemSupport

/// What waits to leave by a line, handed over from any thread and bounded in bytes and in messages
/// (H144, H156).
///
/// A slow peer fills first the line, up to the server's `writeHigh`, then this. Buffers are shared
/// and never copied; an empty outbox owns none.
package final class Outbox: Sendable {
    private struct State {
        var line: (any ByteChannel)?
        var early: [@Sendable () -> Void] = []
        var waiting: [[UInt8]] = []
        /// How many at the front of `waiting` have left.
        var gone = 0
        var bytes = 0
        /// Somebody is going to flush: a wake-up under way, or the line when it has drained.
        var awaitsFlush = false
        var isShut = false
        var hasOverflown = false

        mutating func drop() {
            waiting = []
            gone = 0
            bytes = 0
        }
    }

    private let state = Locked(State())
    private let maximumBytes: Int
    private let maximumMessages: Int

    package init(maximumBytes: Int, maximumMessages: Int) {
        self.maximumBytes = maximumBytes
        self.maximumMessages = maximumMessages
    }

    /// The line, while there is one.
    package var line: (any ByteChannel)? { state.withLock { state in state.line } }

    /// True once a message did not fit; everything that waited is dropped then.
    package var hasOverflown: Bool { state.withLock { state in state.hasOverflown } }

    /// Whether something waits for the line.
    package var isWaiting: Bool { state.withLock { state in state.bytes > 0 } }

    /// Gives it a line, and does there what was asked for earlier.
    package func connect(_ line: any ByteChannel) {
        let early = state.withLock { state in
            state.line = line
            let early = state.early
            state.early = []
            return early
        }
        for work in early { work() }
    }

    /// Runs something on the line's loop: now, or as soon as there is a line; never after its end.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        let line = state.withLock { state -> (any ByteChannel)? in
            if state.line == nil, !state.isShut { state.early.append(work) }
            return state.line
        }
        line?.perform(work)
    }

    /// Queues bytes behind everything else, from any thread.
    ///
    /// - Parameter wake: Called on the loop when somebody has to flush or to see the overflow.
    /// - Returns: False when they will not be sent: the outbox is shut, or they do not fit behind
    ///   what waits.
    package func put(_ bytes: [UInt8], wake: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, mustWake) = state.withLock { state -> (Bool, Bool) in
            guard !state.isShut else { return (false, false) }
            // One message alone is no queue: the largest that may come may also be sent back.
            let isTaken =
                state.bytes == 0
                || state.bytes + bytes.count <= maximumBytes
                    && state.waiting.count - state.gone < maximumMessages
            if isTaken {
                state.waiting.append(bytes)
                state.bytes += bytes.count
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
    @discardableResult package func flush() -> Bool {
        guard let line else { return true }
        while !line.isFull {
            guard let bytes = next() else { return true }
            line.send(bytes)
        }
        return false
    }

    /// The next bytes; once there are none, the next ``put(_:wake:)`` wakes somebody again.
    private func next() -> [UInt8]? {
        state.withLock { state in
            guard state.gone < state.waiting.count else {
                state.drop()
                state.awaitsFlush = false
                return nil
            }
            let bytes = state.waiting[state.gone]
            state.waiting[state.gone] = []
            state.gone += 1
            state.bytes -= bytes.count
            if state.gone == state.waiting.count { state.drop() }
            return bytes
        }
    }

    /// Takes nothing more; what waits still leaves, and after it these bytes.
    ///
    /// - Returns: False when it had been shut before.
    package func shut(after last: [UInt8]) -> Bool {
        state.withLock { state in
            guard !state.isShut else { return false }
            state.isShut = true
            state.waiting.append(last)
            state.bytes += last.count
            return true
        }
    }

    /// Takes nothing more and drops what waits.
    package func shut() {
        state.withLock { state in
            state.isShut = true
            state.drop()
        }
    }

    /// The line is gone.
    package func disconnect() {
        state.withLock { state in
            state.line = nil
            state.early = []
            state.isShut = true
            state.drop()
        }
    }
}
