import Locking
public import Messaging

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
            store.dueSignal.beginLook()
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
            group.addTask { await store.dueSignal.wait(before: next) }
            if let left {
                // A clock that was set may have gone on meanwhile: looked at again within a minute.
                group.addTask { await sleep(min(left, 60_000)) }
            }
            await group.next()
            group.cancelAll()
        }
    }
}
