internal import Base64
internal import Locking
internal import Messaging
internal import MessagingStore

extension WebhookDeliverer {
    /// Asks a target once whether it wants what it would be sent, and remembers what came of it (webhooks §2).
    ///
    /// A crash before it is remembered has it asked again.
    func verify(_ owned: OwnedWebhook, _ sender: WebhookSender) async {
        defer {
            _ = crew.withLock { crew in crew.asked.remove(owned.webhook.id) }
            bell.ring()
        }
        // 43 characters.
        let challenge = Base64.encodeForURL(environment.randomBytes(32))
        guard let outcome = await sender.verify(owned.webhook.target, challenge: challenge) else {
            return
        }
        do {
            switch outcome {
            case .passed:
                try await store.finishVerification(
                    of: owned.webhook, failure: nil, in: owned.application)
            case .refused(let reason):
                try await store.finishVerification(
                    of: owned.webhook, failure: reason, in: owned.application)
                onDeactivation(owned.webhook.id, owned.webhook.target, reason)
            }
            counts.note(outcome)
        } catch {
            onFault(error)
            // Cancelled while it waits, it ends at once; it is asked again by the next look.
            await pause(milliseconds: 1000)
        }
    }
}
