public import Messaging

/// A delivery to be made: an occurrence as one webhook is told of it.
public struct DeliveryDraft: Sendable {
    /// Whom it is for.
    public let webhook: Webhook.ID
    /// Names the occurrence.
    public let event: Occurrence.ID
    /// What the webhook's version calls it.
    public let type: String
    /// Where it stands in the log; `nil` for a test.
    public let position: LogPosition?
    /// Within what it is sent in order; `nil` for what has no order.
    public let conversation: Conversation.ID?
    /// In which trace it is told; `nil` for none.
    public var trace: Trace?
    /// What is sent.
    public let body: [UInt8]

    /// A delivery to be made.
    public init(
        webhook: Webhook.ID, event: Occurrence.ID, type: String, position: LogPosition?,
        conversation: Conversation.ID?, trace: Trace? = nil, body: [UInt8]
    ) {
        self.webhook = webhook
        self.event = event
        self.type = type
        self.position = position
        self.conversation = conversation
        self.trace = trace
        self.body = body
    }
}
