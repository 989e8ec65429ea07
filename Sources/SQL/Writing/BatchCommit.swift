/// One batch of changes on its way to disk.
///
/// Tried first as a whole without savepoints, which is how it nearly always ends. A change that throws
/// after it has only read is refused, and nobody notices. When one throws that has changed something, all
/// is rolled back and run again one by one, each in a savepoint, so that only this one is undone. What stands in everybody's way, such as a connection that broke, has the whole
/// batch begun anew.
struct BatchCommit {
    private let batch: [Mutation]
    private let connection: any Connection
    private(set) var statistics: WriterStatistics

    /// How often a batch is begun when what stands in its way may pass.
    private static let attempts = 5

    /// What tells one caller how its change ended.
    typealias Answer = @Sendable () -> Void

    /// A change that has run, in a transaction not yet committed.
    private struct Done {
        let answer: Answer
        let hooks: [@Sendable () -> Void]
        let brackets: [CommitBracket]
        let hints: Hints
    }

    init(_ batch: [Mutation], on connection: any Connection, counting statistics: WriterStatistics)
    {
        self.batch = batch
        self.connection = connection
        self.statistics = statistics
    }

    /// Does all of it. The answers are to be called in order; what they say is on disk.
    mutating func run() -> [Answer] {
        var attempt = 1
        while true {
            do {
                return try runOnce()
            } catch {
                // Neither begun nor committed: the fault is everybody's.
                connection.rollBack()
                guard (error as? SQLError)?.mayPass == true, attempt < Self.attempts else {
                    return failures(error)
                }
                attempt += 1
            }
        }
    }

    private mutating func runOnce() throws -> [Answer] {
        try connection.start(.writing)
        let outcomes: [Result<Done, any Error>]
        do {
            outcomes = try asWhole()
        } catch {
            if (error as? SQLError)?.isEverybodys == true { throw error }
            connection.rollBack()
            // Alone there is nobody to be parted from.
            guard batch.count > 1 else { return failures(error) }
            statistics.replays += 1
            try connection.start(.writing)
            guard let separate = try inSavepoints() else { return inOwnTransactions() }
            outcomes = separate
        }
        return try commit(outcomes)
    }

    private func asWhole() throws -> [Result<Done, any Error>] {
        // Over a network their questions travel together; on a file there is nothing to be saved.
        if connection.isRemote, batch.count > 1 {
            for mutation in batch { try mutation.foresee?(Transaction(on: connection)) }
        }
        let outcomes = try batch.map { mutation throws -> Result<Done, any Error> in
            let transaction = Transaction(on: connection)
            do {
                return .success(try run(mutation, transaction))
            } catch {
                // Most refusals: what is asked cannot be, and there is nothing to undo.
                guard !transaction.hasChanged, !(error is SQLError) else { throw error }
                return .failure(error)
            }
        }
        try connection.notebook.writeAll(on: connection)
        try hint(outcomes)
        try connection.settle()
        return outcomes
    }

    /// `nil` when the engine has ended the transaction by itself and with it what had worked.
    private func inSavepoints() throws -> [Result<Done, any Error>]? {
        var outcomes: [Result<Done, any Error>] = []
        for mutation in batch {
            try connection.savepoint()
            let outcome = Result {
                let done = try run(mutation, Transaction(on: connection))
                try connection.notebook.writeAll(on: connection)
                try connection.settle()
                return done
            }
            guard connection.state != .none else { return nil }
            if case .failure(let error) = outcome {
                if (error as? SQLError)?.isEverybodys == true { throw error }
                connection.notebook.clear()
                try connection.rollBackToSavepoint()
            }
            try connection.releaseSavepoint()
            outcomes.append(outcome)
        }
        try hint(outcomes)
        return outcomes
    }

    private func hint(_ outcomes: [Result<Done, any Error>]) throws(SQLError) {
        var hints = Hints()
        for case .success(let done) in outcomes { hints.merge(done.hints) }
        if !hints.isEmpty { try connection.hint(hints.texts) }
    }

    /// The last resort, on a disk so full that the engine gives up more than one change.
    private mutating func inOwnTransactions() -> [Answer] {
        var answers: [Answer] = []
        for mutation in batch {
            var alone = BatchCommit([mutation], on: connection, counting: statistics)
            answers += alone.run()
            statistics = alone.statistics
        }
        return answers
    }

    private func run(_ mutation: Mutation, _ transaction: Transaction) throws -> Done {
        let answer = try mutation.run(transaction)
        // A change may have swallowed the error that ended the transaction.
        guard connection.state == .open else { throw SQLError.transactionLost }
        return Done(
            answer: answer, hooks: transaction.hooks, brackets: transaction.brackets,
            hints: transaction.hints)
    }

    private mutating func commit(
        _ outcomes: [Result<Done, any Error>]
    ) throws(SQLError) -> [Answer] {
        let done = outcomes.compactMap { outcome in try? outcome.get() }
        let brackets = done.flatMap(\.brackets)
        for bracket in brackets { bracket.before() }
        defer { for bracket in brackets { bracket.after() } }
        if done.isEmpty { connection.rollBack() } else { try connection.commit() }
        connection.notebook.clear()
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
