/// The delivery of one webhook event to one webhook (X6).
public struct WebhookDelivery: Equatable, Sendable {
    /// The id of a delivery.
    public typealias ID = Identifier<WebhookDelivery>

    /// The state of a delivery. Raw values are stored in rows and never change.
    public enum State: String, CaseIterable, Sendable {
        /// The delivery is not finished: another attempt follows.
        case pending
        /// The receiver has accepted it.
        case delivered
        /// All attempts of the schedule failed; a client may request a retry or a replay.
        case dead
    }

    /// Its id.
    public let id: ID
    /// The event; its id is the same in all deliveries of one event.
    public let event: EventID
    /// The type of the event in the webhook's version.
    public let type: String
    /// The position of the event in the log; `nil` for a test.
    public let position: LogPosition?
    /// The conversation of the event, within which deliveries are in order; `nil` for none.
    public let conversation: Conversation.ID?
    /// The state.
    public let state: State
    /// The number of attempts since the delivery was last requested.
    public let attempts: Int64
    /// The moment of creation.
    public let createdAt: Timestamp
    /// The moment of the next attempt; `nil` while it waits for another delivery, and when it is finished.
    public let nextAt: Timestamp?
    /// The moment when it was delivered or became dead.
    public let finishedAt: Timestamp?
    /// The result of the last attempt; `nil` before the first one.
    public let answer: Answer?
    /// What was sent and received; `nil` where it was not read.
    public var log: Log?

    /// The result of an attempt.
    public struct Answer: Equatable, Sendable {
        /// The status of the receiver's response; `nil` without a response.
        public let status: Int64?
        /// The reason of the failure in words; `nil` for success.
        public let failure: String?

        /// The result of an attempt.
        public init(status: Int64?, failure: String?) {
            self.status = status
            self.failure = failure
        }
    }

    /// One attempt, with what the receiver has answered.
    public struct Attempt: Equatable, Sendable {
        /// The number of first bytes of a response that are kept.
        public static let responseLimit = 1024

        /// When it began.
        public let at: Timestamp
        /// How long it took, in milliseconds.
        public let duration: Int64
        /// The result.
        public let answer: Answer
        /// The first bytes of the body of the response.
        public let response: [UInt8]

        /// All members.
        public init(at: Timestamp, duration: Int64, answer: Answer, response: [UInt8]) {
            self.at = at
            self.duration = duration
            self.answer = answer
            self.response = response
        }
    }

    /// The requests of a delivery.
    public struct Log: Equatable, Sendable {
        /// The number of last attempts that are kept.
        private static let capacity = 20

        /// The names of the headers of the last request.
        public private(set) var headerNames: [String]
        /// Their values.
        public private(set) var headerValues: [String]
        /// The attempts, oldest first.
        public private(set) var attempts: [Attempt]

        /// All members; by default a log without an attempt.
        public init(
            headerNames: [String] = [], headerValues: [String] = [], attempts: [Attempt] = []
        ) {
            self.headerNames = headerNames
            self.headerValues = headerValues
            self.attempts = attempts
        }

        /// Adds an attempt, and drops the oldest above the capacity.
        public mutating func add(
            _ attempt: Attempt, headers: [(name: String, value: String)]
        ) {
            headerNames = headers.map(\.name)
            headerValues = headers.map(\.value)
            attempts.append(attempt)
            if attempts.count > Self.capacity { attempts.removeFirst() }
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

/// The delays between the attempts of a delivery (X6).
public struct RetrySchedule: Equatable, Sendable {
    /// Milliseconds between one attempt and the next; after the last attempt the delivery is dead.
    public var waits: [Int64]
    /// The maximum random deviation of a delay, as a fraction: ±20 %.
    private static let jitter = 0.2
    /// A delivery is late only if it has waited longer than this, in milliseconds, however short the schedule.
    private static let leastAge: Int64 = 60_000

    /// The default: nine attempts after the first, within about 75 hours.
    public static let `default` = RetrySchedule(
        waits: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map { $0 * 1000 })

    /// A schedule.
    public init(waits: [Int64]) {
        self.waits = waits
    }

    /// The time between the first and the last attempt in milliseconds, without jitter.
    public var span: Int64 { waits.reduce(0, +) }

    /// Returns the moment of the next attempt.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts including the failed one, from 1.
    ///   - requested: The moment of creation or of the last retry. A delivery that waited for others longer than the whole
    ///     schedule has one attempt, so that a receiver that was down soon gets current events.
    ///   - chance: A random number from 0 to 1, which selects the deviation.
    /// - Returns: `nil` if there are no more attempts.
    public func next(
        after attempts: Int64, requested: Timestamp, now: Timestamp, chance: Double
    ) -> Timestamp? {
        guard attempts <= waits.count, attempts > 0 else { return nil }
        let age = now.milliseconds - requested.milliseconds
        guard attempts > 1 || age <= max(span, Self.leastAge) else { return nil }
        let wait = Double(waits[Int(attempts) - 1]) * (1 + Self.jitter * (2 * chance - 1))
        return Timestamp(milliseconds: now.milliseconds + Int64(wait))
    }
}
