/// The delivery of one webhook event to one webhook (X6).
public struct WebhookDelivery: Equatable, Sendable {
    /// Names one delivery.
    public typealias ID = Identifier<WebhookDelivery>

    /// The state of a delivery. Raw values are stored in rows and never change.
    public enum State: String, CaseIterable, Sendable {
        /// It will be tried, for the first time or again.
        case pending
        /// The receiver has taken it.
        case delivered
        /// All attempts of the schedule failed; a caller may request a replay.
        case dead
    }

    /// Its name.
    public let id: ID
    /// What is sent: the same in all deliveries of one occurrence.
    public let event: EventID
    /// What happened, as the webhook's version calls it.
    public let type: String
    /// The position of the event in the log; `nil` for a test.
    public let position: LogPosition?
    /// Within what it is sent in order; `nil` for what concerns no conversation.
    public let conversation: Conversation.ID?
    /// The state.
    public let state: State
    /// The number of attempts since the delivery was last requested.
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
        id: ID, event: EventID, type: String, position: LogPosition?,
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

/// When a delivery that failed is tried again, and when it is given up (X6).
public struct RetrySchedule: Equatable, Sendable {
    /// Milliseconds between one try and the next, in order; after the last it is given up.
    public var waits: [Int64]
    /// By how much a wait differs from what is said, at most: ±20 %.
    private static let jitter = 0.2
    /// What counts as waiting behind others is longer than this in milliseconds, however short the schedule.
    private static let leastAge: Int64 = 60_000

    /// Nine tries after the first within about 75 hours.
    public static let `default` = RetrySchedule(
        waits: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map { $0 * 1000 })

    /// A schedule.
    public init(waits: [Int64]) {
        self.waits = waits
    }

    /// The longest time between the first try and the last, without jitter.
    public var span: Int64 { waits.reduce(0, +) }

    /// The moment of the next attempt.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts including the failed one, from one.
    ///   - asked: The moment of creation or of the last replay. A delivery that waited for others longer than
    ///     the whole schedule has one attempt, so that a receiver that is back soon gets current events.
    ///   - chance: From 0 to 1: the position in the range of the jitter.
    /// - Returns: `nil` if there are no more attempts.
    public func next(
        after attempts: Int64, asked: Timestamp, now: Timestamp, chance: Double
    ) -> Timestamp? {
        guard attempts <= waits.count, attempts > 0 else { return nil }
        let age = now.milliseconds - asked.milliseconds
        guard attempts > 1 || age <= max(span, Self.leastAge) else { return nil }
        let wait = Double(waits[Int(attempts) - 1]) * (1 + Self.jitter * (2 * chance - 1))
        return Timestamp(milliseconds: now.milliseconds + Int64(wait))
    }
}
