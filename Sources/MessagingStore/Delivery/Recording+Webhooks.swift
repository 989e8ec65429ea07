import Locking
import Messaging
import SQL

extension Recording {
    /// Tells those who send to webhooks, here and in other processes, that there may be something to do.
    func webhooksChanged() {
        transaction.afterCommit { [webhookSignal] in webhookSignal.ring() }
        transaction.hint(Change.webhooks.subject, now.milliseconds)
    }
}
