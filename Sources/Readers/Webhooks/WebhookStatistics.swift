public import MessagingStore
internal import SystemSupport

/// The deliveries of this process since its start.
public struct WebhookStatistics: Sendable {
    /// Attempts that the target accepted.
    public internal(set) var taken = 0
    /// Attempts that failed.
    public internal(set) var failed = 0
    /// Deliveries that became dead letters.
    public internal(set) var dead = 0
    /// Verifications.
    public internal(set) var verified = 0
    /// Verifications that failed.
    public internal(set) var refused = 0
    /// Webhooks that were deactivated because of dead deliveries.
    public internal(set) var deactivated = 0
    /// Webhooks that this process sends to.
    public internal(set) var workers = 0
    /// Deliveries not sent yet, as of the last count.
    public internal(set) var backlog = DeliveryBacklog()
}

/// The counters behind ``WebhookStatistics``.
final class WebhookCounters: Sendable {
    private let state = Locked(WebhookStatistics())
    private let observe: @Sendable (Duration) -> Void

    /// - Parameter observe: Called with the duration of each attempt.
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
