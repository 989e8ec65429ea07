public import Messaging

/// A delivery that may be sent now: the first of its lane.
public struct DueDelivery: Equatable, Sendable {
    /// Counts the deliveries of a webhook; a later one is never sent before an earlier one of its lane.
    public let number: Int64
    /// Its name.
    public let id: WebhookDelivery.ID
    /// Names the occurrence.
    public let event: Occurrence.ID
    /// What the webhook's version calls it.
    public let type: String
    /// How often it was tried so far.
    public let attempts: Int64
    /// When it was made, or asked for again.
    public let askedAt: Timestamp
    /// In which trace it is told; `nil` for none.
    public let trace: Trace?
    /// What is sent.
    public let body: [UInt8]
}

/// What a sender has to do for a webhook.
public struct DueDeliveries: Sendable {
    /// The webhook as it was when these were due; `nil` when it is to be sent nothing.
    public let webhook: Webhook?
    /// What signs beside its secret.
    public let former: FormerSecret?
    /// What may be sent now, as many as the memory can hold.
    public let items: [DueDelivery]
    /// Whether there may be more.
    public let isCut: Bool
    /// When the next one is due that is not yet; `nil` where more are due now, or none waits.
    public let nextAt: Timestamp?
}
