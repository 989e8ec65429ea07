import Messaging
import SQL

extension Transaction {
    /// What a key was used for, within its life.
    func found(_ request: KeyedRequest) throws -> KeyWatch.Found {
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
                KeptAnswer(
                    status: try row.int(1), fields: try row.blob(2),
                    body: try row.optionalBlob(3)))
        } ?? .unused
    }

    /// Keeps an answer, and lets go of a few that are older than a day.
    ///
    /// Two for each that comes: so there are never many more than a day brings, and no request waits
    /// for a great sweep.
    func keep(_ answer: KeptAnswer, for request: KeyedRequest) throws {
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
