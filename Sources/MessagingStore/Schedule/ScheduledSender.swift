public import Messaging
import SQL
import SystemSupport

/// Sends scheduled messages when they are due: at start those that became due while nobody ran.
///
/// It sleeps until the next one, or until an earlier one is accepted; it does not poll.
public final class ScheduledSender: Sendable {
    private let store: MessagingStore
    private let sleep: @Sendable (Int64) async -> Void
    private let onFault: @Sendable (any Error, Message.ID?) -> Void
    private let work = BackgroundTask()

    /// Nothing is sent before ``start()``.
    ///
    /// - Parameters:
    ///   - sleep: Waits so many milliseconds, unless its task is cancelled; really, if `nil`.
    ///   - onFault: Told of every message that failed and is tried again; without one when nobody
    ///     could look for any.
    public init(
        store: MessagingStore, sleep: (@Sendable (Int64) async -> Void)? = nil,
        onFault: @escaping @Sendable (any Error, Message.ID?) -> Void
    ) {
        self.store = store
        self.sleep = sleep ?? pause(milliseconds:)
        self.onFault = onFault
    }

    /// Begins; once.
    public func start() { work.start { await self.run() } }

    /// Ends after the message that is being sent.
    public func stop() async { await work.stop() }

    private func run() async {
        while !Task.isCancelled {
            store.scheduleSignal.beginLook()
            await wait(until: await sendDue())
        }
    }

    private func sendDue() async -> Timestamp? {
        do {
            return try await store.sendDueMessages { [onFault] error, id in onFault(error, id) }
        } catch {
            onFault(error, nil)
            return Timestamp(
                milliseconds: store.environment.now().milliseconds + MessagingStore.retryPause)
        }
    }

    /// Whichever comes first: the moment, a message due before it, the end.
    private func wait(until next: Timestamp?) async {
        let left = next.map { next in
            max(0, next.milliseconds - store.environment.now().milliseconds)
        }
        await withTaskGroup(of: Void.self) { [store, sleep] group in
            group.addTask { await store.scheduleSignal.wait(before: next) }
            if let left {
                // A clock that was set may have gone on meanwhile: looked at again within a minute.
                group.addTask { await sleep(min(left, 60_000)) }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

extension MessagingStore {
    /// Sends what is due, of all applications, in the order of the times it is due at.
    ///
    /// What cannot be sent any more, because its conversation was deleted or its sender removed, is
    /// dropped (platform-api §5.2.1). What fails stays and is tried again with the next call.
    ///
    /// - Parameter onFault: Told of every message that failed.
    /// - Returns: When the next message is due; `nil` when none waits. With a failure it is at most
    ///   ``retryPause`` from now.
    public func sendDueMessages(
        onFault: @Sendable (any Error, Message.ID) -> Void
    ) async throws -> Timestamp? {
        let now = environment.now()
        var last: ScheduledMessageEntry?
        var hasFailed = false
        while true {
            let due = try await database.read { [last] transaction in
                try transaction.dueMessages(at: now, after: last, limit: 100)
            }
            for message in due {
                guard !Task.isCancelled else { return nil }
                do {
                    try await send(message)
                } catch {
                    hasFailed = true
                    onFault(error, message.id)
                }
            }
            guard let end = due.last else { break }
            last = end
        }
        let next = try await database.read { transaction in try transaction.nextDue(after: now) }
        guard hasFailed else { return next }
        let retry = Timestamp(milliseconds: now.milliseconds + Self.retryPause)
        return next.map { next in min(next, retry) } ?? retry
    }

    /// How long a message that failed is left alone, in milliseconds.
    static let retryPause: Int64 = 5000

    private func send(_ due: ScheduledMessageEntry) async throws {
        try await within(due.trace).change(in: due.application) { context in
            // Another process may have sent it meanwhile.
            guard
                let message = try context.transaction.scheduledMessage(
                    due.id, in: due.application)
            else { return }
            try context.record(
                .scheduleEnded(
                    due.id, isSent: try context.sendNow(message), at: context.now))
        }
    }
}

extension MutationContext {
    /// - Returns: False when it cannot be sent any more; then nothing is recorded.
    fileprivate func sendNow(_ message: ScheduledMessage) throws -> Bool {
        do {
            let conversation = try transaction.lockedConversation(
                message.conversation, in: application)
            // Every part of it bears its name already.
            _ = try post(
                message.draft, to: conversation, as: message.id,
                partIDs: message.draft.parts.compactMap(\.proposedID))
            return true
        } catch is Rejection {
            return false
        }
    }
}

/// Tells the sender of scheduled messages that one is due earlier than it believes.
///
/// Rung after the commit, so what it tells of can be read. What rings between looking and waiting is
/// kept, so that it is not missed.
final class ScheduleSignal: Sendable {
    private let state = Locked(State())

    private struct State {
        /// The earliest moment it has rung for since somebody began to look.
        var earliest: Timestamp?
        var waiting: Waiter?
    }

    private struct Waiter: Sendable {
        /// When it wakes by itself; `nil` for never.
        let next: Timestamp?
        let wake: CheckedContinuation<Void, Never>

        func isLate(for due: Timestamp) -> Bool {
            next.map { next in due < next } ?? true
        }
    }

    /// Tells that a message is due at a moment.
    func ring(for due: Timestamp) {
        let woken = state.withLock { state -> Waiter? in
            state.earliest = min(state.earliest ?? due, due)
            guard let waiter = state.waiting, waiter.isLate(for: due) else { return nil }
            state.waiting = nil
            return waiter
        }
        woken?.wake.resume()
    }

    /// Begins to look: what has rung so far will be seen.
    func beginLook() {
        state.withLock { state in state.earliest = nil }
    }

    /// Waits until it rings for a moment before the one that is known, or the task is cancelled; not
    /// at all when it has since the look began. One waits at a time.
    func wait(before next: Timestamp?) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                enter(Waiter(next: next, wake: wake))
                // Cancelled between the check and the entry, nobody would wake it.
                if Task.isCancelled { leave() }
            }
        } onCancel: {
            leave()
        }
    }

    private func enter(_ waiter: Waiter) {
        let isMissed = state.withLock { state -> Bool in
            guard let earliest = state.earliest, waiter.isLate(for: earliest) else {
                state.waiting = waiter
                return false
            }
            return true
        }
        if isMissed { waiter.wake.resume() }
    }

    private func leave() {
        let waiter = state.withLock { state -> Waiter? in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiter?.wake.resume()
    }
}
