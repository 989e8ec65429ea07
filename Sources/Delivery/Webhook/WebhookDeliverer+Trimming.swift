internal import Messaging
internal import MessagingStore

extension WebhookDeliverer {
    /// Milliseconds between two looks for deliveries to let go of.
    private static let interval: Int64 = 600_000

    /// Lets go of what was over long ago, and of what deleted webhooks have left, now and again.
    func trim() async {
        while !Task.isCancelled {
            do {
                let retention = settings.retention > 0 ? settings.retention : now().milliseconds
                try await store.trimDeliveries(
                    before: Timestamp(milliseconds: now().milliseconds - retention))
            } catch is CancellationError {
                return
            } catch {
                onFault(error)
            }
            // Cancelled while it waits, the loop ends.
            try? await Task.sleep(for: .milliseconds(Self.interval))
        }
    }
}
