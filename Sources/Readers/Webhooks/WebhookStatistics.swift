public import MessagingStore
internal import SystemSupport

/// What was sent to webhooks since the start, by this process.
public struct WebhookStatistics: Sendable {
    /// Tries that the receiver took.
    public internal(set) var taken = 0
    /// Tries that failed.
    public internal(set) var failed = 0
    /// Deliveries that were given up.
    public internal(set) var dead = 0
    /// Webhooks whose targets were asked.
    public internal(set) var verified = 0
    /// How many of them want nothing.
    public internal(set) var refused = 0
    /// Webhooks that were deactivated by what came of their deliveries.
    public internal(set) var deactivated = 0
    /// Webhooks that this process sends to.
    public internal(set) var workers = 0
    /// What it has not sent them, as of the last count.
    public internal(set) var backlog = DeliveryBacklog()
}

/// Counts them.
final class WebhookCounters: Sendable {
    private let state = Locked(WebhookStatistics())
    private let observe: @Sendable (Duration) -> Void

    /// - Parameter observe: Told how long each try took.
    init(observe: @escaping @Sendable (Duration) -> Void) { self.observe = observe }

    var statistics: WebhookStatistics { state.withLock { state in state } }

    func note(_ outcome: DeliveryOutcome, after duration: Duration) {
        observe(duration)
        change { counts in
            switch outcome {
            case .taken: counts.taken += 1
            case .failed, .gone: counts.failed += 1
            }
        }
    }

    func noteDead() { change { counts in counts.dead += 1 } }
    func noteDeactivation() { change { counts in counts.deactivated += 1 } }

    func note(_ verification: WebhookVerification) {
        change { counts in
            counts.verified += 1
            if verification != .passed { counts.refused += 1 }
        }
    }

    func change(_ body: @Sendable (inout WebhookStatistics) -> Void) {
        state.withLock { state in body(&state) }
    }
}
