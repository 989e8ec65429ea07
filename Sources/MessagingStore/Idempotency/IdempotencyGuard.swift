import Messaging
import SQL
import SystemSupport

/// A key, whose it is, and what was asked with it.
struct IdempotentRequest: Sendable {
    let name: Name
    /// SHA-256 of what was asked.
    let digest: [UInt8]
    let now: Timestamp

    /// One key of one application.
    struct Name: Hashable {
        let application: Application.ID
        let key: IdempotencyKey
    }

    /// How long an answer is kept, in milliseconds: a day (X2).
    static let life: Int64 = 86_400_000

    /// Answers kept until then count no more.
    var horizon: Timestamp { Timestamp(milliseconds: now.milliseconds - Self.life) }

    /// - Parameter saying: What was asked, in pieces; two requests are the same when all pieces are.
    init(
        _ name: Name, describedBy pieces: [[UInt8]], at now: Timestamp, hash: ([UInt8]) -> [UInt8]
    ) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pieces.reduce(0) { sum, piece in sum + piece.count + 8 })
        for piece in pieces {
            // Behind its length, so that no piece can pass for the end of another.
            for place in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: piece.count >> (56 - 8 * place)))
            }
            bytes += piece
        }
        self.name = name
        digest = hash(bytes)
        self.now = now
    }
}

/// Looks once whether a key was used before: when its request first asks the store for something.
///
/// By then the shape of the request was found good (platform-api §1.6, step 7) and nothing of what it
/// names has been looked up (step 9).
final class IdempotencyGuard: Sendable {
    let request: IdempotentRequest
    private let found = Locked<Found>(.unseen)

    enum Found {
        case unseen, unused
        case answered(StoredResponse)
        case reused
    }

    /// Thrown through a handler to its end: there is an answer already.
    struct AlreadyAnswered: Error {}

    init(_ request: IdempotentRequest) { self.request = request }

    /// What the look found.
    var result: Found { found.withLock { found in found } }

    /// Passes when the key was not used before.
    func check(_ transaction: Transaction) throws {
        var found = result
        if case .unseen = found {
            found = try transaction.found(request)
            self.found.withLock { [found] known in known = found }
        }
        switch found {
        case .unseen, .unused: return
        case .answered, .reused: throw AlreadyAnswered()
        }
    }
}

/// Keys whose requests this process works on now.
///
/// A repeat that overtakes its first try is told so instead of waiting behind it. Between processes the
/// transaction of each decides.
final class RunningRequests: Sendable {
    private let digests = Locked<[IdempotentRequest.Name: [UInt8]]>([:])

    /// - Throws: `Rejection.inProgress`; `keyReused` when something else was asked with the key.
    func begin(_ request: IdempotentRequest) throws(Rejection) {
        let other = digests.withLock { digests -> [UInt8]? in
            if let digest = digests[request.name] { return digest }
            digests[request.name] = request.digest
            return nil
        }
        guard let other else { return }
        throw other == request.digest ? .inProgress : .keyReused
    }

    func end(_ request: IdempotentRequest) {
        digests.withLock { digests in digests[request.name] = nil }
    }
}

extension Transaction {
    /// What a key was used for, within its life.
    func found(_ request: IdempotentRequest) throws -> IdempotencyGuard.Found {
        let name = request.name
        return try first(
            """
            SELECT digest, status, fields, body FROM idempotency_keys
            WHERE application = \(name.application) AND idempotency_key = \(name.key.text)
                AND kept_at > \(request.horizon)
            """
        ) { row in
            guard try row.blob(0) == request.digest else { return .reused }
            return .answered(
                StoredResponse(
                    status: try row.int(1), fields: try row.blob(2),
                    body: try row.optionalBlob(3)))
        } ?? .unused
    }

    /// Keeps an answer, and lets go of a few that are older than a day.
    ///
    /// Two for each that comes: so there are never many more than a day brings, and no request waits
    /// for a great sweep.
    func keep(_ answer: StoredResponse, for request: IdempotentRequest) throws {
        let name = request.name
        try execute(
            """
            INSERT INTO idempotency_keys (
                application, idempotency_key, digest, status, fields, body, kept_at
            ) VALUES (
                \(name.application), \(name.key.text), \(request.digest), \(answer.status),
                \(answer.fields), \(answer.body), \(request.now)
            )
            ON CONFLICT (application, idempotency_key) DO UPDATE SET
                digest = excluded.digest, status = excluded.status, fields = excluded.fields,
                body = excluded.body, kept_at = excluded.kept_at
            """)
        try execute(
            """
            DELETE FROM idempotency_keys
            WHERE application = \(name.application) AND idempotency_key IN (
                SELECT idempotency_key FROM idempotency_keys
                WHERE application = \(name.application) AND kept_at <= \(request.horizon)
                ORDER BY kept_at LIMIT 2
            )
            """)
    }
}
