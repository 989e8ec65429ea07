internal import Messaging
internal import MessagingStore

/// A webhook as its sender needs it.
struct Receiver: Equatable, Sendable {
    let application: Application.ID
    let webhook: Webhook
    /// What signs beside the present secret.
    let former: FormerSecret?
}
