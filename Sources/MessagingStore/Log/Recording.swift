import Locking
import Messaging
import SQL

/// One mutation of one application: what it loads with, and the only way to change a row.
struct Recording {
    let transaction: Transaction
    let application: Application.ID
    let now: Timestamp
    /// On whose account; `nil` for what the server does by itself.
    let actor: Actor?
    /// In which trace it is asked for; `nil` for none.
    let trace: Trace?
    let hash: @Sendable ([UInt8]) -> [UInt8]
    let signal: CommitSignal
    let dueSignal: DueSignal
    let webhookSignal: Bell
    let clock: ChangeClock

    /// Appends an event to the log and applies it to the rows, both in this transaction.
    ///
    /// - Parameter listeners: Whom a message reaches, where that was looked up already.
    func record(_ event: Event, reaching listeners: [Listener]? = nil) throws {
        let position = try transaction.nextLogPosition(in: application)
        transaction.add(
            """
            (\(application), \(position), \(event.kind), \(now), \(event.payload), \(actor?.user),
            \(actor?.token), \(trace?.text))
            """,
            to: "events", key: application.bytes,
            by: Insertion(
                """
                INSERT INTO events (
                    application, position, kind, at, payload, actor_user, actor_token, trace
                ) VALUES
                """))
        var projection = Projection(
            transaction: transaction, application: application, hash: hash, position: position,
            moment: now)
        projection.listeners = listeners
        projection.trace = trace
        try projection.apply(event)
        let changes = event.changes(in: application)
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
        transaction.hint(Change.log(of: application).subject, position.number)
    }
}

extension Transaction {
    /// The next place in an application's log.
    ///
    /// A counter row and never a sequence: a sequence hands out 1 before 2 commits first, and a
    /// reader would step over it. Rolled back, the number is free again: no gaps. All changes of one
    /// commit count on, and the row is written once for them.
    fileprivate func nextLogPosition(in application: Application.ID) throws -> LogPosition {
        let row = Fact<LogPosition>(of: application.bytes, in: "log_positions")
        let last = try askLogPosition(in: application).first()
        if last == nil {
            try execute(
                "INSERT INTO log_positions (application, position) VALUES (\(application), 0)")
        }
        let next = LogPosition((last ?? .start).number + 1)
        postpone(next, of: row) {
            "UPDATE log_positions SET position = \(next) WHERE application = \(application)"
        }
        know(next, of: row)
        return next
    }

    /// How far an application's log goes, for whoever records the next event.
    func askLogPosition(in application: Application.ID) throws -> Finding<LogPosition> {
        try ask(
            "SELECT position FROM log_positions WHERE application = \(application)\(.untilCommit)",
            as: Fact(of: application.bytes, in: "log_positions")
        ) { row in LogPosition(try row.int64(0)) }
    }
}

extension Actor {
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
}
