/// What a webhook is sent once: one occurrence, and how far it has come (X6).
public struct WebhookDelivery: Equatable, Sendable {
    /// Names one delivery.
    public typealias ID = Identifier<WebhookDelivery>

    /// How far it has come. Raw values stand in rows and are never changed.
    public enum State: String, CaseIterable, Sendable {
        /// It will be tried, for the first time or again.
        case pending
        /// The receiver has taken it.
        case delivered
        /// It was tried as often as the schedule says; somebody may ask for it again.
        case dead
    }

    /// Its name.
    public let id: ID
    /// What is sent: the same in all deliveries of one occurrence.
    public let event: Occurrence.ID
    /// What happened, as the webhook's version calls it.
    public let type: String
    /// Where it stands in the log; `nil` for a test.
    public let position: LogPosition?
    /// Within what it is sent in order; `nil` for what concerns no conversation.
    public let conversation: Conversation.ID?
    /// How far it has come.
    public let state: State
    /// How often it was tried since somebody last asked for it.
    public let attempts: Int64
    /// When it was made.
    public let createdAt: Timestamp
    /// When it is tried; `nil` when it waits behind another one, or is over.
    public let nextAt: Timestamp?
    /// When it was delivered or given up.
    public let finishedAt: Timestamp?
    /// What came of the last try; `nil` before.
    public let answer: Answer?

    /// What came of a try.
    public struct Answer: Equatable, Sendable {
        /// The status of the receiver; `nil` when there was none.
        public let status: Int64?
        /// Why it counts as a failure, in words; `nil` when it does not.
        public let failure: String?

        /// What came of a try.
        public init(status: Int64?, failure: String?) {
            self.status = status
            self.failure = failure
        }
    }

    /// A delivery as stored.
    public init(
        id: ID, event: Occurrence.ID, type: String, position: LogPosition?,
        conversation: Conversation.ID?, state: State, attempts: Int64, createdAt: Timestamp,
        nextAt: Timestamp?, finishedAt: Timestamp?, answer: Answer?
    ) {
        self.id = id
        self.event = event
        self.type = type
        self.position = position
        self.conversation = conversation
        self.state = state
        self.attempts = attempts
        self.createdAt = createdAt
        self.nextAt = nextAt
        self.finishedAt = finishedAt
        self.answer = answer
    }
}
