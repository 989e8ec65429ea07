internal import Bytes
public import Messaging
import SQL

/// A new token with its secret, which is shown only once.
public struct CreatedToken: Equatable, Sendable {
    /// The token.
    public let token: Token
    /// The secret; the store has only its SHA-256.
    public let secret: String
}

extension MessagingStore {
    /// Creates a token.
    ///
    /// - Parameters:
    ///   - expiresAt: When the token expires; `nil` for never.
    ///   - secret: A secret chosen by the operator, for example in the environment; `nil` for 256 random
    ///     bits. The same secret again returns its token.
    /// - Throws: `Rejection.notFound(.application)`; `missing("secret")` for an empty one; `idTaken(.token)`
    ///   for one of another application or of a revoked token.
    public func createToken(
        for application: Application.ID, name: String? = nil, scope: Token.Scope,
        expiresAt: Timestamp? = nil, secret: String? = nil
    ) async throws -> CreatedToken {
        let secret = secret ?? newSecret()
        guard !secret.isEmpty else { throw Rejection.missing("secret") }
        let digest = environment.sha256(Array(secret.utf8))
        let id: Token.ID = environment.newID()
        let token = try await change(in: application) { context in
            try context.create(
                Token(
                    id: id, name: name, application: application, scope: scope,
                    createdAt: context.now,
                    expiresAt: expiresAt), digest)
        }
        return CreatedToken(token: token, secret: secret)
    }

    /// All tokens of an application, including revoked ones, oldest first.
    public func tokens(of application: Application.ID) async throws -> [Token] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT id, application, scope, created_at, expires_at, revoked_at, name FROM tokens
                WHERE application = \(application) ORDER BY created_at, id
                """
            ) { row in try Token(row) }
        }
    }

    /// Revokes a token permanently; repeating it changes nothing.
    ///
    /// - Throws: `Rejection.notFound(.token)`.
    public func revokeToken(_ id: Token.ID, of application: Application.ID) async throws {
        try await change(in: application) { context in
            guard let token = try context.token(id) else { throw Rejection.notFound(.token) }
            guard token.revokedAt == nil else { return }
            try context.record(.tokenRevoked(TokenRevoked(token: id, at: context.now)))
        }
        grantCache.clear()
        consoleCache.clear()
    }

    private func newSecret() -> String {
        "parley_" + Base64.encodeForURL(environment.randomBytes(32))
    }
}

extension MutationContext {
    fileprivate func create(_ token: Token, _ digest: [UInt8]) throws -> Token {
        guard try transaction.application(application) != nil else {
            throw Rejection.notFound(.application)
        }
        let known = try transaction.first(
            """
            SELECT id, application, scope, created_at, expires_at, revoked_at, name FROM tokens
            WHERE digest = \(digest)
            """
        ) { row in try Token(row) }
        if let known {
            guard known.application == application, known.revokedAt == nil else {
                throw Rejection.idTaken(.token)
            }
            return known
        }
        try record(.tokenCreated(TokenCreated(token: token, digest: digest)))
        return token
    }

    fileprivate func token(_ id: Token.ID) throws -> Token? {
        try transaction.first(
            """
            SELECT id, application, scope, created_at, expires_at, revoked_at, name FROM tokens
            WHERE application = \(application) AND id = \(id)
            """
        ) { row in try Token(row) }
    }
}
