import Locking
import Messaging
import SQL

extension Recording {
    /// Tells those who send to webhooks, here and in other processes, that there may be something to do.
    func webhooksChanged() {
        transaction.afterCommit { [webhookSignal] in webhookSignal.ring() }
        transaction.notify(Change.webhooks.subject, now.milliseconds)
    }

    /// Writes how a webhook that has changed stands, and tells of it; what it has still to be told of is kept.
    func update(_ webhook: Webhook, from before: Webhook) throws {
        if case .active(let since) = before.status {
            try transaction.keepUnread(of: webhook.id, since: since, in: application)
        }
        try transaction.update(webhook, in: application)
        try record(.webhookUpdated(ShownWebhook(webhook)))
        webhooksChanged()
    }

    /// Deactivates a webhook in the midst of a mutation.
    ///
    /// - Returns: Whether it was active until now: of several answers that end it, one does.
    func deactivate(_ id: Webhook.ID, because reason: String) throws -> Bool {
        guard try transaction.webhook(id, in: application) != nil else { return false }
        let webhook = try transaction.lockedWebhook(id, in: application)
        guard case .active = webhook.status else { return false }
        try update(webhook.deactivating(because: reason), from: webhook)
        return true
    }
}
