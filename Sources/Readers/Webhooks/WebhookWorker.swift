internal import Messaging
internal import MessagingStore
internal import SystemSupport

/// Sends the deliveries of one webhook: in order within a conversation, concurrently otherwise.
///
/// It holds at most the deliveries being sent and as many again; one read takes at most 4 MiB of
/// bodies, however many rows are due. A target that keeps failing gets one attempt at a time, one a
/// second, until one succeeds.
final class WebhookWorker: Sendable {
    private let store: MessagingStore
    private let sender: WebhookSender
    private let counts: WebhookCounters
    private let onFault: @Sendable (any Error) -> Void
    private let onDeactivation: @Sendable (WebhookTarget, String) -> Void
    let wakeSignal = WakeSignal()
    private let state: Locked<State>

    private struct State {
        var receiver: WebhookTarget
        var inProgress: Set<Int64> = []
        var ready: [DueDelivery] = []
        /// Failed attempts in a row.
        var failures = 0
        var isStopping = false
    }

    /// Milliseconds between two attempts at a failing target, and after which the rows are read
    /// again without a wake signal.
    private static let (retryDelay, pollInterval): (Int64, Int64) = (1000, 15_000)

    init(
        _ receiver: WebhookTarget, store: MessagingStore, sender: WebhookSender,
        counts: WebhookCounters,
        onFault: @escaping @Sendable (any Error) -> Void,
        onDeactivation: @escaping @Sendable (WebhookTarget, String) -> Void
    ) {
        self.store = store
        self.sender = sender
        self.counts = counts
        self.onFault = onFault
        self.onDeactivation = onDeactivation
        state = Locked(State(receiver: receiver))
    }

    /// Starts no further attempt; ``run()`` ends when the running ones have ended.
    func stop() {
        state.withLock { state in state.isStopping = true }
        wakeSignal.signal()
    }

    /// Sends deliveries until ``stop()``.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, !state.withLock({ $0.isStopping }) {
                let pause = await load()
                while let next = next() {
                    group.addTask {
                        await self.deliver(next)
                        self.wakeSignal.signal()
                    }
                }
                await wakeSignal.wait(atMost: pause)
            }
        }
    }

    /// Reads due deliveries, unless enough are held.
    ///
    /// - Returns: The milliseconds until the next delivery may be due.
    private func load() async -> Int64 {
        let (receiver, taken, isWanted) = state.withLock { state in
            (
                state.receiver, Array(state.inProgress),
                state.ready.isEmpty && state.inProgress.count < limit(state)
            )
        }
        guard isWanted else { return Self.pollInterval }
        do {
            let due = try await store.dueDeliveries(
                of: receiver.webhook.id, besides: taken.sorted(),
                limit: 2 * sender.settings.concurrency, in: receiver.application)
            state.withLock { state in
                state.ready = due.items
                guard let webhook = due.webhook else { return }
                state.receiver.webhook = webhook
                state.receiver.former = due.former
            }
            guard let next = due.nextAt else { return Self.pollInterval }
            return min(Self.pollInterval, max(1, next.milliseconds - sender.now().milliseconds))
        } catch {
            onFault(error)
            return Self.retryDelay
        }
    }

    private func limit(_ state: State) -> Int {
        state.failures < sender.settings.concurrency ? sender.settings.concurrency : 1
    }

    private func next() -> DueDelivery? {
        state.withLock { state in
            guard !state.isStopping, state.inProgress.count < limit(state), !state.ready.isEmpty
            else { return nil }
            let next = state.ready.removeFirst()
            state.inProgress.insert(next.number)
            return next
        }
    }

    private func deliver(_ delivery: DueDelivery) async {
        let receiver = state.withLock { state in state.receiver }
        let start = ContinuousClock.now
        let sent = await sender.send(delivery, to: receiver)
        if let sent {
            counts.note(sent.outcome, after: ContinuousClock.now - start)
            await settle(delivery, sent.outcome, after: sent.attempt, receiver)
        }
        let isFailing = state.withLock { state -> Bool in
            if case .taken? = sent?.outcome { state.failures = 0 } else { state.failures += 1 }
            return state.failures >= sender.settings.concurrency && !state.isStopping
        }
        // Returns at once when cancelled.
        if isFailing { await pause(milliseconds: Self.retryDelay) }
        _ = state.withLock { state in state.inProgress.remove(delivery.number) }
    }

    /// Stores an outcome. Until then the delivery counts as being sent, so that it is not sent
    /// again at once.
    private func settle(
        _ delivery: DueDelivery, _ outcome: DeliveryOutcome, after attempt: SentAttempt,
        _ receiver: WebhookTarget
    ) async {
        while true {
            do {
                let settlement = try await store.settle(
                    delivery, of: receiver.webhook.id, outcome, after: attempt,
                    deadShare: sender.settings.deadShare, in: receiver.application)
                if settlement.state == .dead { counts.noteDead() }
                if let reason = settlement.deactivation {
                    stop()
                    onDeactivation(receiver, reason)
                }
                return
            } catch {
                onFault(error)
                guard !Task.isCancelled else { return }
                // Cancelled while it waits, it tries a last time.
                await pause(milliseconds: Self.retryDelay)
            }
        }
    }
}
