internal import Locking
internal import Messaging
internal import MessagingStore

// What is done now and again, for as long as this process sends.
extension WebhookDeliverer {
    /// Lets go of what was over long ago, and of what deleted webhooks have left.
    func trim() async {
        await regularly(every: 600_000) {
            let now = environment.now().milliseconds
            let retention = settings.retention > 0 ? settings.retention : now
            try await store.trimDeliveries(before: Timestamp(milliseconds: now - retention))
        }
    }

    /// Counts what has not been sent.
    func count() async {
        await regularly(every: 10_000) {
            let backlog = try await store.deliveryBacklog()
            counts.change { counts in counts.backlog = backlog }
        }
        counts.change { counts in counts.backlog = DeliveryBacklog() }
    }

    /// - Parameter interval: Milliseconds from one end to the next beginning.
    private func regularly(every interval: Int64, _ work: () async throws -> Void) async {
        await telling(work)
        await repeating(after: interval) { await telling(work) }
    }

    private func telling(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch is CancellationError {
            // Nobody waits for it any more.
        } catch {
            onFault(error)
        }
    }
}
