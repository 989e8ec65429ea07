internal import Bytes
import Messaging
import SQL
import SystemSupport

/// A request with an idempotency key.
struct IdempotentRequest: Sendable {
    fileprivate let name: Name
    /// The SHA-256 of the content of the request.
    let digest: [UInt8]
    fileprivate let now: Timestamp

    /// A key of an application, or of one of its users (ruling 40).
    struct Name: Hashable {
        let application: Application.ID
        let user: UserID?
        let key: IdempotencyKey

        /// The value of the column `user_id`: empty for a key of the application.
        fileprivate var owner: String { user?.text ?? "" }
    }

    /// How long a response is stored, in milliseconds: a day (X2).
    private static let lifetime: Int64 = 86_400_000

    /// Responses stored up to this moment have expired.
    var expiry: Timestamp { Timestamp(milliseconds: now.milliseconds - Self.lifetime) }

    /// - Parameter pieces: What identifies the request; two requests are the same when all pieces are equal.
    init(
        _ name: Name, describedBy pieces: [[UInt8]], at now: Timestamp, hash: ([UInt8]) -> [UInt8]
    ) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pieces.reduce(0) { sum, piece in sum + piece.count + 8 })
        for piece in pieces {
            // The length comes first, so that different pieces never have the same concatenation.
            bytes += piece.count.bigEndianBytes
            bytes += piece
        }
        self.name = name
        digest = hash(bytes)
        self.now = now
    }
}

/// Checks before the first query of a request whether its idempotency key was used before.
///
/// At that moment the syntax of the request has been validated (platform-api §1.6, step 7), and no object that it
/// refers to has been looked up (step 9).
final class IdempotencyGuard: Sendable {
    private let request: IdempotentRequest
    private let found = Locked<Found>(.unseen)

    enum Found {
        /// The request has not queried the store yet.
        case unseen
        /// The key was not used before.
        case unused
        /// The request was done before, with this response.
        case answered(StoredResponse)
        /// The key was used for another request.
        case reused
    }

    /// Thrown by the first query, to end the handler: a response is already stored, or the key was used for another
    /// request.
    struct AlreadyAnswered: Error {}

    init(_ request: IdempotentRequest) { self.request = request }

    /// The result of the check so far.
    var result: Found { found.withLock { found in found } }

    /// Checks the key at the first call; later calls repeat the result.
    ///
    /// - Throws: ``AlreadyAnswered`` when the key was used before.
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

/// The idempotency keys of the requests that are running in this process.
///
/// A retry that arrives while the first request still runs is rejected at once instead of waiting for it. Requests in
/// other processes are found only by the response that they store.
final class RunningRequests: Sendable {
    private let digests = Locked<[IdempotentRequest.Name: [UInt8]]>([:])

    /// - Throws: `Rejection.inProgress` while the same request runs; `keyReused` while another request with the key
    ///   runs.
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
    /// The stored use of a key; `unused` if there is none, or it has expired.
    func found(_ request: IdempotentRequest) throws -> IdempotencyGuard.Found {
        let name = request.name
        return try first(
            """
            SELECT digest, status, fields, body FROM idempotency_keys
            WHERE application = \(name.application) AND user_id = \(name.owner)
                AND idempotency_key = \(name.key.text) AND kept_at > \(request.expiry)
            """
        ) { row in
            guard try row.blob(0) == request.digest else { return .reused }
            return .answered(
                StoredResponse(
                    status: try row.int(1), fields: try row.blob(2),
                    body: try row.optionalBlob(3)))
        } ?? .unused
    }

    /// Stores a response, and deletes up to two expired ones.
    ///
    /// Two, so that the table holds little more than the responses of a day, and no request waits for a large
    /// deletion.
    func store(_ response: StoredResponse, for request: IdempotentRequest) throws {
        let name = request.name
        try execute(
            """
            INSERT INTO idempotency_keys (
                application, user_id, idempotency_key, digest, status, fields, body, kept_at
            ) VALUES (
                \(name.application), \(name.owner), \(name.key.text), \(request.digest),
                \(response.status), \(response.fields), \(response.body), \(request.now)
            )
            ON CONFLICT (application, user_id, idempotency_key) DO UPDATE SET
                digest = excluded.digest, status = excluded.status, fields = excluded.fields,
                body = excluded.body, kept_at = excluded.kept_at
            """)
        try execute(
            """
            DELETE FROM idempotency_keys
            WHERE application = \(name.application) AND (user_id, idempotency_key) IN (
                SELECT user_id, idempotency_key FROM idempotency_keys
                WHERE application = \(name.application) AND kept_at <= \(request.expiry)
                ORDER BY kept_at LIMIT 2
            )
            """)
    }
}
