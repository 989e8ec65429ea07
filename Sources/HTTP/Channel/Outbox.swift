internal import SystemSupport

/// A bounded queue of messages for a channel, filled from any thread (H144, H156).
///
/// For a slow peer, the channel's own queue fills first, up to the server's `writeHigh`, then this
/// one. Buffers are shared, never copied; an empty outbox allocates nothing.
package final class Outbox: Sendable {
    private struct State {
        var channel: (any ByteChannel)?
        var earlyWork: [@Sendable () -> Void] = []
        var waiting: [[UInt8]] = []
        /// How many buffers at the front of `waiting` were sent.
        var sentCount = 0
        var bytes = 0
        /// Whether a flush is pending: a wake-up is scheduled, or the channel will report that it
        /// has drained.
        var awaitsFlush = false
        var isClosed = false
        var hasOverflown = false

        mutating func drop() {
            waiting = []
            sentCount = 0
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

    /// The channel, while it is open.
    package var channel: (any ByteChannel)? { state.withLock { state in state.channel } }

    /// Whether a message did not fit. The queue is dropped then.
    package var hasOverflown: Bool { state.withLock { state in state.hasOverflown } }

    /// Whether messages wait for the channel.
    package var isWaiting: Bool { state.withLock { state in state.bytes > 0 } }

    /// Attaches the channel and runs work that was requested earlier.
    package func connect(_ channel: any ByteChannel) {
        let earlyWork = state.withLock { state in
            state.channel = channel
            let earlyWork = state.earlyWork
            state.earlyWork = []
            return earlyWork
        }
        for work in earlyWork { work() }
    }

    /// Runs work on the channel's loop: now, or once a channel is attached; never after it is
    /// closed.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        let channel = state.withLock { state -> (any ByteChannel)? in
            if state.channel == nil, !state.isClosed { state.earlyWork.append(work) }
            return state.channel
        }
        channel?.perform(work)
    }

    /// Queues a message, from any thread.
    ///
    /// - Parameter wake: Called on the loop when a flush is needed or the queue has overflown.
    /// - Returns: False when the message will not be sent: the outbox is closed, or the message
    ///   does not fit.
    package func put(_ bytes: [UInt8], wake: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, mustWake) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed else { return (false, false) }
            // A message alone always fits, so that the largest message that may be received can be
            // echoed.
            let isTaken =
                state.bytes == 0
                || state.bytes + bytes.count <= maximumBytes
                    && state.waiting.count - state.sentCount < maximumMessages
            if isTaken {
                state.waiting.append(bytes)
                state.bytes += bytes.count
            } else {
                state.drop()
                state.isClosed = true
                state.hasOverflown = true
            }
            let mustWake = !state.awaitsFlush || state.hasOverflown
            state.awaitsFlush = true
            return (isTaken, mustWake)
        }
        if mustWake { perform(wake) }
        return isTaken
    }

    /// Sends what the channel can take; to be called on the loop.
    ///
    /// - Returns: False when messages remain until the channel has drained.
    @discardableResult package func flush() -> Bool {
        guard let channel else { return true }
        while !channel.isFull {
            guard let bytes = next() else { return true }
            channel.send(bytes)
        }
        return false
    }

    /// The next message. When there is none, the next ``put(_:wake:)`` schedules a wake-up again.
    private func next() -> [UInt8]? {
        state.withLock { state in
            guard state.sentCount < state.waiting.count else {
                state.drop()
                state.awaitsFlush = false
                return nil
            }
            let bytes = state.waiting[state.sentCount]
            state.waiting[state.sentCount] = []
            state.sentCount += 1
            state.bytes -= bytes.count
            if state.sentCount == state.waiting.count { state.drop() }
            return bytes
        }
    }

    /// Closes the outbox; what is queued is still sent, then these bytes.
    ///
    /// - Returns: False when the outbox was closed before.
    package func close(after last: [UInt8]) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.isClosed = true
            state.waiting.append(last)
            state.bytes += last.count
            return true
        }
    }

    /// Closes the outbox and drops the queue.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.drop()
        }
    }

    /// Detaches the closed channel and drops the queue.
    package func disconnect() {
        state.withLock { state in
            state.channel = nil
            state.earlyWork = []
            state.isClosed = true
            state.drop()
        }
    }
}
