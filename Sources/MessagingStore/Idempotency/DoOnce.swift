public import Messaging
import SQL

extension MessagingStore {
    /// Does what a request with a key asks, unless that was done before (X2).
    ///
    /// Everything the work asks of the store it is handed happens in one transaction, on its thread, and
    /// the answer is kept in the same one: whoever comes again after a crash finds both or neither.
    ///
    /// - Parameters:
    ///   - pieces: What is asked; the same key with anything else is refused.
    ///   - work: Waits for nothing but the store it is handed, and may run more than once; it
    ///     reports success, which is kept, by a status of 2xx.
    /// - Throws: `Rejection.inProgress`, `keyReused`; what the work throws, and then nothing is kept.
    public func doOnce(
        _ key: IdempotencyKey, saying pieces: [[UInt8]], in application: Application.ID,
        _ work: @escaping @Sendable (MessagingStore) async throws -> KeptAnswer
    ) async throws -> KeyedOutcome {
        try await working(on: key, pieces, application) { request in
            try await database.write { transaction in
                try attempt(request, transaction, work)
            }
        }
    }

    /// The same for work whose effect lies outside of the database, such as a file.
    ///
    /// Its answer is kept after it is done: a crash in between leaves the effect without its answer,
    /// and the repeat does it a second time.
    public func doOnceOutside(
        _ key: IdempotencyKey, saying pieces: [[UInt8]], in application: Application.ID,
        _ work: @escaping @Sendable (MessagingStore) async throws -> KeptAnswer
    ) async throws -> KeyedOutcome {
        try await working(on: key, pieces, application) { request in
            let watch = KeyWatch(request)
            do {
                let answer = try await work(over(database.watched(by: watch)))
                guard answer.isKept else { return .done(answer) }
                try await database.write { transaction in
                    try transaction.keep(answer, for: request)
                }
                return .done(answer)
            } catch is KeyWatch.IsAnswered {
                return try watch.outcome()
            }
        }
    }

    private func working(
        on key: IdempotencyKey, _ pieces: [[UInt8]], _ application: Application.ID,
        _ work: (KeyedRequest) async throws -> KeyedOutcome
    ) async throws -> KeyedOutcome {
        let request = KeyedRequest(
            KeyedRequest.Name(application: application, key: key), saying: pieces,
            at: environment.now(), hash: environment.sha256)
        try runningKeys.begin(request)
        defer { runningKeys.end(request) }
        return try await work(request)
    }

    private func attempt(
        _ request: KeyedRequest, _ transaction: Transaction,
        _ work: @escaping @Sendable (MessagingStore) async throws -> KeptAnswer
    ) throws -> KeyedOutcome {
        let (sitting, watch) = (Sitting(transaction), KeyWatch(request))
        let store = over(.within(sitting, watchedBy: watch))
        switch sitting.host({ try await work(store) }) {
        case .success(let answer):
            guard answer.isKept else { return .done(answer) }
            do { try watch.check(transaction) } catch { return try watch.outcome() }
            try transaction.keep(answer, for: request)
            return .done(answer)
        case .failure(is KeyWatch.IsAnswered): return try watch.outcome()
        case .failure(let error): throw error
        case nil: throw StoreFault.strayed
        }
    }
}

extension KeyWatch {
    /// What is answered instead of doing it.
    fileprivate func outcome() throws -> KeyedOutcome {
        switch result {
        case .answered(let answer): return .replayed(answer)
        case .reused: throw Rejection.keyReused
        case .unseen, .unused: throw StoreFault.unreadable("idempotency_keys")
        }
    }
}
