import Messaging
import MessagingStore

extension Command {
    /// Makes a token and prints its id and, for the only time, its secret.
    ///
    /// - Parameters:
    ///   - scope: `read`, `write` or `admin`.
    ///   - expiry: A time such as `30d` from now, or a moment such as `2030-01-31T00:00:00Z`.
    public static func createToken(
        _ sources: SettingsSources, application text: String, scope: String, expiry: String?
    ) async throws -> Int32 {
        let application = try application(text)
        guard let scope = Token.Scope(rawValue: scope) else {
            let names = Token.Scope.allCases.map(\.rawValue).joined(separator: ", ")
            throw StartFailure("the scope of a token is one of \(names)")
        }
        let now = StoreEnvironment.live.now()
        let expiresAt = try expiry.map { text in try moment(text, after: now) }
        return try await withStore(sources) { store in
            do {
                let created = try await store.createToken(
                    for: application, scope: scope, expiresAt: expiresAt)
                say("ID=\(created.token.id)\nTOKEN=\(created.secret)")
            } catch is Rejection {
                throw StartFailure("there is no application \(application)")
            }
        }
    }

    /// Lists tokens: id, scope, state, time of creation, end, separated by tabs; never a secret.
    public static func listTokens(_ sources: SettingsSources, application text: String) async throws
        -> Int32
    {
        let application = try application(text)
        let now = StoreEnvironment.live.now()
        return try await withStore(sources) { store in
            guard try await store.application(application) != nil else {
                throw StartFailure("there is no application \(application)")
            }
            for token in try await store.tokens(of: application) {
                let state =
                    token.revokedAt != nil ? "revoked" : token.holds(at: now) ? "active" : "expired"
                let end = token.expiresAt.map(self.text) ?? "never"
                say(
                    "\(token.id)\t\(token.scope.rawValue)\t\(state)\t\(self.text(token.createdAt))\t\(end)"
                )
            }
        }
    }

    /// Refuses a token from now on; a running server follows within a second.
    public static func revokeToken(
        _ sources: SettingsSources, application: String, _ text: String
    ) async throws -> Int32 {
        let application = try Command.application(application)
        guard let id = Token.ID(uuid: text) else {
            throw StartFailure("\(text) is not the id of a token")
        }
        return try await withStore(sources) { store in
            do {
                try await store.revokeToken(id, of: application)
            } catch is Rejection {
                throw StartFailure("application \(application) has no token \(id)")
            }
            say("\(id)\trevoked")
        }
    }
}
