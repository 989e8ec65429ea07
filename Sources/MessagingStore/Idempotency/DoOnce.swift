public import Messaging
import SQL

/// An answer as it is kept under a key, to be given again (X2).
public struct StoredResponse: Equatable, Sendable {
    /// Of three digits.
    public let status: Int
    /// The header fields that belong to it, as bytes; whoever wrote them reads them.
    public let fields: [UInt8]
    /// `nil` for none.
    public let body: [UInt8]?

    /// An answer to keep.
    public init(status: Int, fields: [UInt8], body: [UInt8]?) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Only success is kept: what has failed has done nothing, and may be tried again (ruling 12).
    var isKept: Bool { (200..<300).contains(status) }
}

/// What became of a request with a key.
public enum IdempotentOutcome: Equatable, Sendable {
    /// It was done now.
    case done(StoredResponse)
    /// It was done before; this was the answer.
    case replayed(StoredResponse)
}

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
        _ key: IdempotencyKey, describedBy pieces: [[UInt8]], in application: Application.ID,
        _ work: @escaping @Sendable (MessagingStore) async throws -> StoredResponse
    ) async throws -> IdempotentOutcome {
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
    public func doOnceOutsideTransaction(
        _ key: IdempotencyKey, describedBy pieces: [[UInt8]], in application: Application.ID,
        _ work: @escaping @Sendable (MessagingStore) async throws -> StoredResponse
    ) async throws -> IdempotentOutcome {
        try await working(on: key, pieces, application) { request in
            let watch = IdempotencyGuard(request)
            do {
                let answer = try await work(over(database.watched(by: watch)))
                guard answer.isKept else { return .done(answer) }
                try await database.write { transaction in
                    try transaction.keep(answer, for: request)
                }
                return .done(answer)
            } catch is IdempotencyGuard.AlreadyAnswered {
                return try watch.outcome()
            }
        }
    }

    private func working(
        on key: IdempotencyKey, _ pieces: [[UInt8]], _ application: Application.ID,
        _ work: (IdempotentRequest) async throws -> IdempotentOutcome
    ) async throws -> IdempotentOutcome {
        let request = IdempotentRequest(
            IdempotentRequest.Name(application: application, key: key), describedBy: pieces,
            at: environment.now(), hash: environment.sha256)
        try runningRequests.begin(request)
        defer { runningRequests.end(request) }
        return try await work(request)
    }

    private func attempt(
        _ request: IdempotentRequest, _ transaction: Transaction,
        _ work: @escaping @Sendable (MessagingStore) async throws -> StoredResponse
    ) throws -> IdempotentOutcome {
        let (sitting, watch) = (InlineTransaction(transaction), IdempotencyGuard(request))
        let store = over(.within(sitting, watchedBy: watch))
        switch sitting.host({ try await work(store) }) {
        case .success(let answer):
            guard answer.isKept else { return .done(answer) }
            do { try watch.check(transaction) } catch { return try watch.outcome() }
            try transaction.keep(answer, for: request)
            return .done(answer)
        case .failure(is IdempotencyGuard.AlreadyAnswered): return try watch.outcome()
        case .failure(let error): throw error
        case nil: throw StoreFault.leftTransaction
        }
    }
}

extension IdempotencyGuard {
    /// What is answered instead of doing it.
    fileprivate func outcome() throws -> IdempotentOutcome {
        switch result {
        case .answered(let answer): return .replayed(answer)
        case .reused: throw Rejection.keyReused
        case .unseen, .unused: throw StoreFault.unreadable("idempotency_keys")
        }
    }
}
