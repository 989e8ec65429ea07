internal import Messaging
internal import MessagingStore
internal import SystemSupport

/// Sends what one webhook is to be sent: in order within a conversation, side by side otherwise.
///
/// It holds what it sends and as much again, 4 MiB of bodies at most at a look, whatever waits in the rows.
/// A receiver that fails time after time is asked one at a time and once a second, until it answers.
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
        var onTheWay: Set<Int64> = []
        var ready: [DueDelivery] = []
        /// In a row.
        var failures = 0
        var isStopping = false
    }

    /// Milliseconds between two tries of a receiver that fails, and until the rows are looked at again
    /// though nobody rang.
    private static let (breath, patience): (Int64, Int64) = (1000, 15_000)

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

    /// Sends nothing further; ``run()`` ends when what is on its way is over.
    func stop() {
        state.withLock { state in state.isStopping = true }
        wakeSignal.signal()
    }

    /// Sends until it is stopped.
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

    /// Reads what is due, unless there is enough of it.
    ///
    /// - Returns: For how many milliseconds there is nothing else to do.
    private func load() async -> Int64 {
        let (receiver, taken, isWanted) = state.withLock { state in
            (
                state.receiver, Array(state.onTheWay),
                state.ready.isEmpty && state.onTheWay.count < limit(state)
            )
        }
        guard isWanted else { return Self.patience }
        do {
            let due = try await store.dueDeliveries(
                of: receiver.webhook.id, besides: taken.sorted(),
                limit: 2 * sender.settings.concurrency, in: receiver.application)
            state.withLock { state in
                state.ready = due.items
                guard let webhook = due.webhook else { return }
                state.receiver = WebhookTarget(
                    application: receiver.application, webhook: webhook, former: due.former)
            }
            guard let next = due.nextAt else { return Self.patience }
            return min(Self.patience, max(1, next.milliseconds - sender.now().milliseconds))
        } catch {
            onFault(error)
            return Self.breath
        }
    }

    private func limit(_ state: State) -> Int {
        state.failures < sender.settings.concurrency ? sender.settings.concurrency : 1
    }

    private func next() -> DueDelivery? {
        state.withLock { state in
            guard !state.isStopping, state.onTheWay.count < limit(state), !state.ready.isEmpty
            else { return nil }
            let next = state.ready.removeFirst()
            state.onTheWay.insert(next.number)
            return next
        }
    }

    private func deliver(_ delivery: DueDelivery) async {
        let receiver = state.withLock { state in state.receiver }
        let start = ContinuousClock.now
        let outcome = await sender.send(delivery, to: receiver)
        if let outcome {
            counts.note(outcome, after: ContinuousClock.now - start)
            await settle(delivery, outcome, receiver)
        }
        let isFailing = state.withLock { state -> Bool in
            if case .taken? = outcome { state.failures = 0 } else { state.failures += 1 }
            return state.failures >= sender.settings.concurrency && !state.isStopping
        }
        // Cancelled while it waits it goes on at once.
        if isFailing { await pause(milliseconds: Self.breath) }
        _ = state.withLock { state in state.onTheWay.remove(delivery.number) }
    }

    /// Until it is remembered it counts as on its way: else it would be sent again at once.
    private func settle(
        _ delivery: DueDelivery, _ outcome: DeliveryOutcome, _ receiver: WebhookTarget
    ) async {
        while true {
            do {
                let settlement = try await store.settle(
                    delivery, of: receiver.webhook.id, outcome,
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
                await pause(milliseconds: Self.breath)
            }
        }
    }
}

/// A webhook as its sender needs it.
struct WebhookTarget: Equatable, Sendable {
    let application: Application.ID
    let webhook: Webhook
    /// What signs beside the present secret.
    let former: FormerSecret?
}
