public import Messaging
import SQL
import SystemSupport

/// Sends scheduled messages when they are due, and at its start those that became due while no process ran. Reports their
/// senders that are to be shown as typing before.
///
/// It sleeps until the next due time or until an earlier message is scheduled, but at most a minute: the clock may be
/// set meanwhile, and another process that stops directly after it has scheduled a message notifies no process.
public final class ScheduledSender: Sendable {
    private let store: MessagingStore
    private let sleep: @Sendable (Int64) async -> Void
    private let onTyping: @Sendable (ScheduledTyping) -> Void
    private let onFault: @Sendable (any Error, Message.ID?) -> Void
    private let work = BackgroundTask()

    /// The maximum time to sleep, in milliseconds.
    private static let longestPause: Int64 = 60_000

    /// Creates a sender; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - sleep: Waits that many milliseconds, unless its task is cancelled; `nil` for the real clock.
    ///   - onTyping: Called, in every process, when the sender of a message begins to be shown as typing.
    ///   - onFault: Called for every message that failed and will be retried, and with `nil` when the query for due
    ///     messages failed.
    public init(
        store: MessagingStore, sleep: (@Sendable (Int64) async -> Void)? = nil,
        onTyping: @escaping @Sendable (ScheduledTyping) -> Void = { _ in },
        onFault: @escaping @Sendable (any Error, Message.ID?) -> Void
    ) {
        self.store = store
        self.sleep = sleep ?? pause(milliseconds:)
        self.onTyping = onTyping
        self.onFault = onFault
    }

    /// Starts the sender. Call it once.
    public func start() { work.start { await self.run() } }

    /// Stops after the current message.
    public func stop() async { await work.stop() }

    private func run() async {
        // The users that are to be shown as typing up to this moment have been reported.
        var reported = Timestamp(milliseconds: 0)
        while !Task.isCancelled {
            store.scheduleSignal.beginQuery()
            await wait(until: await sendDue(typingAfter: &reported))
        }
    }

    /// - Returns: When there is something to do next.
    private func sendDue(typingAfter reported: inout Timestamp) async -> Timestamp? {
        do {
            let next = try await store.sendDueMessages { [onFault] error, id in onFault(error, id) }
            let now = store.environment.now()
            let (typing, nextTyping) = try await store.scheduledTyping(
                after: reported, through: now)
            reported = now
            for user in typing { onTyping(user) }
            return [next, nextTyping].compactMap(\.self).min()
        } catch {
            onFault(error, nil)
            return Timestamp(
                milliseconds: store.environment.now().milliseconds + MessagingStore.retryPause)
        }
    }

    /// Waits for the due time, an earlier message, or cancellation, whichever comes first.
    private func wait(until next: Timestamp?) async {
        let left = next.map { next in
            max(0, next.milliseconds - store.environment.now().milliseconds)
        }
        let pause = min(left ?? Self.longestPause, Self.longestPause)
        await withTaskGroup(of: Void.self) { [store, sleep] group in
            group.addTask { await store.scheduleSignal.wait(before: next) }
            group.addTask { await sleep(pause) }
            await group.next()
            group.cancelAll()
        }
    }
}

extension MessagingStore {
    /// Sends the due messages of all applications, in the order of their due times.
    ///
    /// A message that is rejected now, for example because its conversation was deleted or its sender removed, is dropped
    /// (platform-api §5.2.1). A message that fails for another reason stays, and is retried with the next call.
    ///
    /// - Parameter onFault: Called for every message that failed.
    /// - Returns: When to call it again: the next due time, and after a failure at most ``retryPause`` later; `nil` when
    ///   no message is scheduled.
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

    /// The users that begin to be shown as typing after a moment up to another, and when the next one does; `nil` for
    /// never.
    func scheduledTyping(
        after start: Timestamp, through now: Timestamp
    ) async throws -> ([ScheduledTyping], next: Timestamp?) {
        try await database.read { transaction in
            (
                try transaction.scheduledTyping(after: start, through: now),
                try transaction.nextTyping(after: now)
            )
        }
    }

    /// The delay before a failed message is retried, in milliseconds.
    static let retryPause: Int64 = 5000

    private func send(_ due: ScheduledMessageEntry) async throws {
        try await within(due.trace).change(in: due.application) { context in
            // Another process may have sent it.
            guard
                let message = try context.transaction.scheduledMessage(
                    due.id, in: due.application)
            else { return }
            try context.record(
                .scheduleEnded(
                    ScheduleEnded(
                        message: due.id, isSent: try context.sendNow(message), at: context.now)))
        }
    }
}

extension MutationContext {
    /// Sends a scheduled message.
    ///
    /// - Returns: False when it is rejected; then nothing is recorded.
    fileprivate func sendNow(_ message: ScheduledMessage) throws -> Bool {
        do {
            let conversation = try transaction.lockedConversation(
                message.conversation, toSendFrom: message.draft.sender, in: application)
            // Each part has an id since the message was accepted.
            _ = try post(
                message.draft, to: conversation, as: message.id,
                partIDs: message.draft.parts.compactMap(\.proposedID))
            return true
        } catch is Rejection {
            return false
        }
    }
}

/// Wakes the ``ScheduledSender`` when a message is due earlier than it expects.
///
/// It is signalled after the commit, so that the message can be read. A signal between the sender's query and its wait
/// is not lost.
final class ScheduleSignal: Sendable {
    private let state = Locked(State())

    private struct State {
        /// The earliest due time signalled since the last query began.
        var earliest: Timestamp?
        var waiting: Waiter?
    }

    private struct Waiter: Sendable {
        /// The due time that the waiter expects; `nil` for none.
        let next: Timestamp?
        let wake: CheckedContinuation<Void, Never>

        func isLate(for due: Timestamp) -> Bool {
            next.map { next in due < next } ?? true
        }
    }

    /// Signals that a message is due at a moment.
    func signal(dueAt due: Timestamp) {
        let woken = state.withLock { state -> Waiter? in
            state.earliest = min(state.earliest ?? due, due)
            guard let waiter = state.waiting, waiter.isLate(for: due) else { return nil }
            state.waiting = nil
            return waiter
        }
        woken?.wake.resume()
    }

    /// Marks the beginning of a query, which finds all messages signalled so far, so that these signals are dropped.
    func beginQuery() {
        state.withLock { state in state.earliest = nil }
    }

    /// Waits until a message is signalled that is due before the given moment, or the task is cancelled. It returns at
    /// once if such a message was signalled since the query began. Only one task may wait at a time.
    func wait(before next: Timestamp?) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                enter(Waiter(next: next, wake: wake))
                // If the task was cancelled between the check and the registration, `onCancel` has found no
                // waiter.
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
