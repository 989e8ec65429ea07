internal import Bytes
import Messaging
import SQL

/// Issues and checks nonces for identity tokens (client-api §2.1).
///
/// A nonce holds its time, 16 random bytes and a code of both under a secret of the database, so that issuing one
/// writes nothing: every 401 contains a fresh nonce, and clients without credentials cannot fill the database. Only a
/// nonce that began a session is stored, until it would have expired, so that it works once. Every process of the
/// database accepts the nonces of all.
final class Nonces: Sendable {
    /// How long a nonce is valid, in milliseconds: ten minutes.
    static let lifetime: Int64 = 600_000

    private static let (randomSize, codeSize) = (16, 16)
    private let key = SharedSecret("nonces", size: 32)

    /// A nonce that this database issued and that has not expired; it may have been used.
    struct Valid {
        /// Its random bytes, which identify it.
        let random: [UInt8]
        /// When it expires.
        let expiresAt: Timestamp
    }

    /// Returns a new nonce: 54 characters of the URL-safe alphabet of base64.
    func issue(_ store: MessagingStore) async throws -> String {
        let time = store.environment.now().milliseconds
        let content = time.bigEndianBytes + store.environment.randomBytes(Self.randomSize)
        let code = Self.code(of: content, try await key.value(from: store))
        return Base64.encodeForURL(content + code)
    }

    /// Checks a nonce of a client; `nil` for any that this database did not issue in the last ten minutes.
    func valid(_ text: String, _ store: MessagingStore) async throws -> Valid? {
        guard let bytes = Base64.decodeForURL(text),
            bytes.count == 8 + Self.randomSize + Self.codeSize
        else { return nil }
        let content = Array(bytes.dropLast(Self.codeSize))
        let code = Self.code(of: content, try await key.value(from: store))
        guard Signature.matches(code, Array(bytes.suffix(Self.codeSize))) else { return nil }
        let time = content.prefix(8).reduce(Int64(0)) { time, byte in time &<< 8 | Int64(byte) }
        let age = store.environment.now().milliseconds - time
        // The clocks of processes may differ a little.
        guard (-60_000...Self.lifetime).contains(age) else { return nil }
        return Valid(
            random: Array(content.dropFirst(8)),
            expiresAt: Timestamp(milliseconds: time + Self.lifetime))
    }

    private static func code(of content: [UInt8], _ key: [UInt8]) -> [UInt8] {
        Array(Signature.of(content, key: key, by: .sha256).prefix(codeSize))
    }
}

extension MutationContext {
    /// Stores a nonce as used, and deletes up to a hundred expired ones that were used in this application. A nonce is not
    /// bound to an application, so one that was used in another one is used.
    ///
    /// - Throws: `IdentityTokenProblem.nonceNotFound` for one that was used before.
    func use(_ nonce: Nonces.Valid) throws {
        let inserted = try transaction.rowsChanged(
            by: """
                INSERT INTO used_nonces (application, nonce, expires_at)
                VALUES (\(application), \(nonce.random), \(nonce.expiresAt))
                ON CONFLICT (nonce) DO NOTHING
                """)
        guard inserted == 1 else { throw IdentityTokenProblem.nonceNotFound }
        try transaction.execute(
            """
            DELETE FROM used_nonces
            WHERE application = \(application) AND expires_at <= \(now)
                AND expires_at <= COALESCE((
                    SELECT expires_at FROM used_nonces
                    WHERE application = \(application) AND expires_at <= \(now)
                    ORDER BY expires_at LIMIT 1 OFFSET 99
                ), \(now))
            """)
    }
}
