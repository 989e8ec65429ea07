import Messaging
import SQL

/// One mutation of one application: what it loads with, and the only way to change a row.
struct Recording {
    let transaction: Transaction
    let application: Application.ID
    let now: Timestamp
    /// On whose account; `nil` for what the server does by itself.
    let actor: Actor?
    let hash: @Sendable ([UInt8]) -> [UInt8]
    let signal: CommitSignal
    let dueSignal: DueSignal
    let clock: ChangeClock

    /// Appends an event to the log and applies it to the rows, both in this transaction.
    func record(_ event: Event) throws {
        let position = try transaction.nextLogPosition(in: application)
        try transaction.execute(
            """
            INSERT INTO events (application, position, kind, at, payload, actor_user, actor_token)
            VALUES (
                \(application), \(position), \(event.kind), \(now), \(event.payload),
                \(actor?.user), \(actor?.token)
            )
            """)
        try Projection(transaction: transaction, application: application, hash: hash)
            .apply(event)
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
    /// reader would step over it. Rolled back, the number is free again: no gaps.
    fileprivate func nextLogPosition(in application: Application.ID) throws -> LogPosition {
        // Only the first event of an application finds no row.
        let isCounted =
            try rowsChanged(
                by: """
                    UPDATE log_positions SET position = position + 1
                    WHERE application = \(application)
                    """) > 0
        if !isCounted {
            try execute(
                """
                INSERT INTO log_positions (application, position) VALUES (\(application), 1)
                ON CONFLICT (application) DO UPDATE SET position = log_positions.position + 1
                """)
        }
        let next = try first(
            "SELECT position FROM log_positions WHERE application = \(application)"
        ) { row in LogPosition(try row.int64(0)) }
        guard let next else { throw StoreFault.unreadable("log_positions") }
        return next
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
