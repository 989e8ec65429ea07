/// Commits one batch of changes in a transaction.
///
/// The batch runs first without savepoints. A change that throws before it has written is rejected alone. When
/// a change throws that has written, the transaction is rolled back and run again with a savepoint for each
/// change, so that only the failing one is undone. An error that affects the whole batch, such as a broken
/// connection, runs the batch again from the start.
struct BatchCommit {
    private let take: () -> [Mutation]
    private var batch: [Mutation] = []
    private let connection: any Connection
    private(set) var statistics: WriterStatistics
    /// The notifications of other processes about committed changes, to be sent after the answers.
    private(set) var notifications = PendingNotifications()

    /// Attempts after transient errors.
    private static let attempts = 5

    /// Resumes one caller with the outcome of its change.
    typealias Answer = @Sendable () -> Void

    /// The outcome of a change that has run in a transaction not yet committed.
    private struct Done {
        let answer: Answer
        let hooks: [@Sendable () -> Void]
        let commitHooks: [CommitHooks]
        let notifications: PendingNotifications
    }

    /// - Parameter take: Takes the changes that wait; called once, when they can be made.
    init(
        taking take: @escaping () -> [Mutation], on connection: any Connection,
        counting statistics: WriterStatistics
    ) {
        self.take = take
        self.connection = connection
        self.statistics = statistics
    }

    /// Runs and commits the batch.
    ///
    /// - Returns: The answers, to be called in order; what they report is durable.
    mutating func run() -> [Answer] {
        var attempt = 1
        while true {
            do {
                return try runOnce()
            } catch {
                // Neither begun nor committed: the error is that of every change.
                connection.rollBack()
                if batch.isEmpty { batch = take() }
                guard (error as? SQLError)?.isTransient == true, attempt < Self.attempts else {
                    return failures(error)
                }
                attempt += 1
            }
        }
    }

    private mutating func runOnce() throws -> [Answer] {
        let roundTrips = connection.roundTrips
        defer { statistics.roundTrips += connection.roundTrips - roundTrips }
        try connection.start(.writing)
        if batch.isEmpty {
            // While another process writes, more changes arrive: they are taken when it is this one's turn.
            if connection.isContended { try connection.flush() }
            batch = take()
        }
        do {
            return try commit(try asWhole())
        } catch {
            let fault = error as? SQLError
            // The writes of the changes are sent together with the COMMIT. If that fails itself, then for all.
            guard fault?.affectsWholeBatch != true, fault?.statement != Dialect.commit else {
                throw error
            }
            connection.rollBack()
            // A single change needs no savepoint: it has failed.
            guard batch.count > 1 else { return failures(error) }
            statistics.replays += 1
            try connection.start(.writing)
            guard let outcomes = try inSavepoints() else { return inOwnTransactions() }
            return try commit(outcomes)
        }
    }

    private func asWhole() throws -> [Result<Done, any Error>] {
        // Over a network the queries share one round trip; on a file there is nothing to save.
        if connection.isRemote {
            let transaction = Transaction(on: connection)
            for mutation in batch { try mutation.prefetch?(transaction) }
            try transaction.sendPrefetches()
        }
        let outcomes = try batch.map { mutation throws -> Result<Done, any Error> in
            let transaction = Transaction(on: connection)
            do {
                return .success(try run(mutation, transaction))
            } catch {
                // Most rejections: the change threw before it wrote, so there is nothing to undo.
                guard !transaction.hasChanged, !(error is SQLError) else { throw error }
                return .failure(error)
            }
        }
        try connection.cache.writeAll(on: connection)
        return outcomes
    }

    /// - Returns: `nil` when the engine has ended the transaction, and with it the changes that had worked.
    private func inSavepoints() throws -> [Result<Done, any Error>]? {
        var outcomes: [Result<Done, any Error>] = []
        for mutation in batch {
            try connection.savepoint()
            let outcome = Result {
                let done = try run(mutation, Transaction(on: connection))
                try connection.cache.writeAll(on: connection)
                try connection.flush()
                return done
            }
            guard connection.state != .none else { return nil }
            if case .failure(let error) = outcome {
                if (error as? SQLError)?.affectsWholeBatch == true { throw error }
                connection.cache.clear()
                try connection.rollBackToSavepoint()
            }
            try connection.releaseSavepoint()
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// The last resort, on a disk so full that the engine rolls back more than one change.
    private mutating func inOwnTransactions() -> [Answer] {
        var answers: [Answer] = []
        for mutation in batch {
            var alone = BatchCommit(taking: { [mutation] }, on: connection, counting: statistics)
            answers += alone.run()
            statistics = alone.statistics
            notifications.merge(alone.notifications)
        }
        return answers
    }

    private func run(_ mutation: Mutation, _ transaction: Transaction) throws -> Done {
        let answer = try mutation.run(transaction)
        // A change may have caught the error that ended the transaction.
        guard connection.state == .open else { throw SQLError.transactionLost }
        return Done(
            answer: answer, hooks: transaction.hooks, commitHooks: transaction.commitHooks,
            notifications: transaction.notifications)
    }

    private mutating func commit(
        _ outcomes: [Result<Done, any Error>]
    ) throws(SQLError) -> [Answer] {
        let done = outcomes.compactMap { outcome in try? outcome.get() }
        let commitHooks = done.flatMap(\.commitHooks)
        for hooks in commitHooks { hooks.before() }
        defer { for hooks in commitHooks { hooks.after() } }
        if done.isEmpty { connection.rollBack() } else { try connection.commit() }
        for change in done { notifications.merge(change.notifications) }
        connection.cache.clear()
        statistics.count(done.count)
        for hook in done.flatMap(\.hooks) { hook() }
        return zip(batch, outcomes).map { mutation, outcome in
            switch outcome {
            case .success(let done): done.answer
            case .failure(let error): { mutation.fail(error) }
            }
        }
    }

    private func failures(_ error: any Error) -> [Answer] {
        batch.map { mutation in { mutation.fail(error) } }
    }
}
