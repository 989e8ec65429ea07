public import Messaging
import SQL

/// A response stored under an idempotency key, to be returned again (X2).
public struct StoredResponse: Equatable, Sendable {
    /// The status code.
    public let status: Int
    /// The encoded header fields; the store does not interpret them.
    public let fields: [UInt8]
    /// The body; `nil` for none.
    public let body: [UInt8]?

    /// Creates a response.
    public init(status: Int, fields: [UInt8], body: [UInt8]?) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Only successful responses are stored: a failed request has changed nothing and may be retried (ruling
    /// 12).
    var isStored: Bool { (200..<300).contains(status) }
}

/// The outcome of a request with an idempotency key.
public enum IdempotentOutcome: Equatable, Sendable {
    /// The work was done now.
    case done(StoredResponse)
    /// The work was done before; this is the stored response.
    case replayed(StoredResponse)
}

extension MessagingStore {
    /// Does the work of a request with an idempotency key, unless it was done before (X2).
    ///
    /// The work is passed a store whose calls all run in one transaction, on the thread of that transaction. The
    /// response is stored in it too: after a crash, a retry finds both the changes and the response, or neither.
    ///
    /// - Parameters:
    ///   - user: The user whose key it is (ruling 40); `nil` for a key of the application.
    ///   - pieces: What identifies the request, such as its path and body; the key is rejected with any other request.
    ///   - work: Must suspend only on the store it is passed, and may run more than once. Its response is stored if
    ///     the status is 2xx.
    /// - Throws: `Rejection.inProgress` while the same request runs in this process; `Rejection.keyReused` for a key of
    ///   another request; what the work throws, and then nothing is stored.
    public func doOnce(
        _ key: IdempotencyKey, of user: UserID? = nil, describedBy pieces: [[UInt8]],
        in application: Application.ID,
        _ work: @escaping @Sendable (MessagingStore) async throws -> StoredResponse
    ) async throws -> IdempotentOutcome {
        try await withRunningRequest(on: key, user, pieces, application) { request in
            try await database.write { transaction in
                try attempt(request, transaction, work)
            }
        }
    }

    /// Does the work of a request with an idempotency key that has an effect outside of the database, such as a file,
    /// unless it was done before (X2).
    ///
    /// The response is stored after the work, in a separate transaction: after a crash in between, a retry repeats
    /// the effect. Otherwise as ``doOnce(_:of:describedBy:in:_:)``.
    public func doOnceOutsideTransaction(
        _ key: IdempotencyKey, of user: UserID? = nil, describedBy pieces: [[UInt8]],
        in application: Application.ID,
        _ work: @escaping @Sendable (MessagingStore) async throws -> StoredResponse
    ) async throws -> IdempotentOutcome {
        try await withRunningRequest(on: key, user, pieces, application) { request in
            let idempotencyGuard = IdempotencyGuard(request)
            do {
                let response = try await work(using(database.guarded(by: idempotencyGuard)))
                guard response.isStored else { return .done(response) }
                try await database.write { transaction in
                    try transaction.store(response, for: request)
                }
                return .done(response)
            } catch is IdempotencyGuard.AlreadyAnswered {
                return try idempotencyGuard.outcome()
            }
        }
    }

    /// Checks whether the key of the request was used before, for work outside of a transaction that does not begin with a
    /// query of its store.
    public func checkIdempotencyKey() async throws {
        try await database.read { _ in }
    }

    private func withRunningRequest(
        on key: IdempotencyKey, _ user: UserID?, _ pieces: [[UInt8]],
        _ application: Application.ID,
        _ work: (IdempotentRequest) async throws -> IdempotentOutcome
    ) async throws -> IdempotentOutcome {
        let request = IdempotentRequest(
            IdempotentRequest.Name(application: application, user: user, key: key),
            describedBy: pieces,
            at: environment.now(), hash: environment.sha256)
        try runningRequests.begin(request)
        defer { runningRequests.end(request) }
        return try await work(request)
    }

    private func attempt(
        _ request: IdempotentRequest, _ transaction: Transaction,
        _ work: @escaping @Sendable (MessagingStore) async throws -> StoredResponse
    ) throws -> IdempotentOutcome {
        let (inline, idempotencyGuard) = (InlineTransaction(transaction), IdempotencyGuard(request))
        let store = using(.within(inline, guardedBy: idempotencyGuard))
        switch inline.runToEnd({ try await work(store) }) {
        case .success(let response):
            guard response.isStored else { return .done(response) }
            do { try idempotencyGuard.check(transaction) } catch {
                return try idempotencyGuard.outcome()
            }
            try transaction.store(response, for: request)
            return .done(response)
        case .failure(is IdempotencyGuard.AlreadyAnswered): return try idempotencyGuard.outcome()
        case .failure(let error): throw error
        case nil: throw StoreFault.leftTransaction
        }
    }
}

extension IdempotencyGuard {
    /// The outcome of a request whose key was used before.
    fileprivate func outcome() throws -> IdempotentOutcome {
        switch result {
        case .answered(let response): return .replayed(response)
        case .reused: throw Rejection.keyReused
        case .unseen, .unused: throw StoreFault.unreadable("idempotency_keys")
        }
    }
}
