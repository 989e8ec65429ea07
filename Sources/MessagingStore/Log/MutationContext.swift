import Messaging
import SQL
import SystemSupport

/// A mutation in one application: its transaction, and ``record(_:reaching:)``, which changes rows by an event.
struct MutationContext {
    let transaction: Transaction
    let application: Application.ID
    let now: Timestamp
    /// The user, token or operator of the request; `nil` for what the server does by itself.
    let actor: EventActor?
    /// The trace of the request; `nil` for none.
    let trace: Trace?
    /// Receives the position of each recorded event; `nil` for none.
    let effect: RecordedEffect?
    /// The limits that conversations and messages are validated against.
    let limits: MessagingLimits
    /// SHA-256.
    let hash: @Sendable ([UInt8]) -> [UInt8]
    let signal: CommitSignal
    let scheduleSignal: ScheduleSignal
    let webhookSignal: WakeSignal
    let clock: InvalidationClock
    /// Whether events may introduce users that are erased or being erased.
    private(set) var mayNameErasedUsers = false

    private static let events = Insertion(
        """
        INSERT INTO events (
            application, position, kind, at, payload, actor_user, actor_token, trace, actor_name
        ) VALUES
        """)

    /// Appends an event to the log and applies it to the rows, both in this transaction. After the commit, caches are
    /// invalidated and log readers are woken.
    ///
    /// - Parameter recipientViews: The recipients of a message, if they were already loaded.
    func record(_ event: Event, reaching recipientViews: [RecipientView]? = nil) throws {
        try requireUnerased(event)
        let stored = event.stored
        var projection = try append(stored)
        projection.recipientViews = recipientViews
        try stored.apply(to: projection)
        announce(stored.invalidated(in: application), through: projection.position)
    }

    /// A copy that may record events which name users that are erased or being erased.
    func namingErasedUsers() -> MutationContext {
        var context = self
        context.mayNameErasedUsers = true
        return context
    }

    /// Appends an event to the log. The caller applies it to the rows.
    ///
    /// - Returns: The projection that writes the rows of the event.
    func append(_ stored: any StoredEvent) throws -> Projection {
        let position = try transaction.nextLogPositions(1, in: application)
        effect?.note(position)
        transaction.add(
            row(of: stored.type, at: position, stored.encoded),
            to: "events", keys: application.bytes, by: Self.events)
        return projection(at: position)
    }

    /// Appends encoded events of one type to the log. The caller applies them to the rows.
    ///
    /// - Parameter encoded: At least one event.
    /// - Returns: The position of the first event, and the projection of the last one.
    func append(
        _ type: EventType, _ encoded: [[UInt8]]
    ) throws -> (first: LogPosition, last: Projection) {
        let first = try transaction.nextLogPositions(encoded.count, in: application)
        let rows = encoded.enumerated().map { index, event in
            row(of: type, at: LogPosition(first.number + Int64(index)), event)
        }
        transaction.add(rows, to: "events", by: Self.events)
        let last = LogPosition(first.number + Int64(encoded.count - 1))
        effect?.note(last)
        return (first, projection(at: last))
    }

    private func row(
        of type: EventType, at position: LogPosition, _ encoded: [UInt8]
    ) -> InsertedRow {
        """
        (\(application), \(position), \(type.rawValue), \(now), \(encoded), \(actor?.user),
        \(actor?.token), \(trace?.text), \(actor?.name))
        """
    }

    private func projection(at position: LogPosition) -> Projection {
        Projection(
            transaction: transaction, application: application, hash: hash, position: position,
            moment: now, trace: trace)
    }

    /// Invalidates cached messages, and wakes log readers, when the events up to a position are committed.
    func announce(_ changes: [InvalidationSubject], through position: LogPosition) {
        if !changes.isEmpty {
            transaction.aroundCommit { [clock] in
                clock.begin(changes)
            } after: { [clock] in
                clock.end(changes)
            }
        }
        transaction.afterCommit { [signal, application] in
            signal.advance(to: position, in: application)
        }
        transaction.notify(StoreNotification.log(of: application).subject, position.number)
    }
}

/// The end of an application's event log.
struct LogEnd {
    /// The position of the last event.
    var position = LogPosition.start
    /// The time of the last change to a block list of the application; see ``Projection/apply(_:)-(BlocksChanged)``.
    var blocksChangedAt = Timestamp(milliseconds: 0)
    /// The number of messages in conversations that are not deleted.
    var messageCount: Int64 = 0
    /// Whether users of the application are being erased.
    var hasErasures = false

    static func cacheKey(of application: Application.ID) -> RowCacheKey<LogEnd> {
        RowCacheKey(of: application.bytes, in: "log_positions")
    }
}

extension Transaction {
    /// The first of the next positions in an application's log.
    ///
    /// It comes from a row and not from a sequence: with a sequence, position 2 can be committed before position 1, and a
    /// reader would skip 1. After a rollback the number is used again, so there are no gaps. The row is written once for
    /// all changes of a commit.
    fileprivate func nextLogPositions(
        _ count: Int, in application: Application.ID
    ) throws -> LogPosition {
        let key = LogEnd.cacheKey(of: application)
        let last = try cached(key) ?? queryLogEnd(in: application).first()
        if last == nil {
            try execute(
                "INSERT INTO log_positions (application, position) VALUES (\(application), 0)")
        }
        var end = last ?? LogEnd()
        let first = LogPosition(end.position.number + 1)
        end.position = LogPosition(end.position.number + Int64(count))
        deferLogEnd(end, in: application)
        return first
    }

    /// Writes the end of the log once for all changes of a commit.
    private func deferLogEnd(_ end: LogEnd, in application: Application.ID) {
        let key = LogEnd.cacheKey(of: application)
        deferWrite(end, of: key) {
            """
            UPDATE log_positions SET
                position = \(end.position), message_count = \(end.messageCount)
            WHERE application = \(application)
            """
        }
        cache(end, for: key)
    }

    /// Adds to the number of messages of an application, after the event that sends or deletes them was recorded.
    func addToMessageCount(_ difference: Int64, in application: Application.ID) throws {
        guard difference != 0, var end = try queryLogEnd(in: application).first() else { return }
        end.messageCount += difference
        deferLogEnd(end, in: application)
    }

    /// Queries the end of an application's log, whose row is locked until the transaction ends; no row for an application
    /// without events.
    func queryLogEnd(in application: Application.ID) throws -> DeferredRows<LogEnd> {
        try query(
            """
            SELECT position, blocks_changed_at, message_count, erasing FROM log_positions
            WHERE application = \(application)\(.untilCommit)
            """,
            as: LogEnd.cacheKey(of: application)
        ) { row in
            LogEnd(
                position: LogPosition(try row.int64(0)), blocksChangedAt: try row.timestamp(1),
                messageCount: try row.int64(2), hasErasures: try row.int64(3) > 0)
        }
    }
}

extension EventActor {
    fileprivate var user: UserID? {
        switch self {
        case .user(let user): user
        case .named, .token: nil
        }
    }

    fileprivate var token: Token.ID? {
        switch self {
        case .token(let id): id
        case .named, .user: nil
        }
    }
    fileprivate var name: String? {
        switch self {
        case .named(let name): name
        case .token, .user: nil
        }
    }
}
