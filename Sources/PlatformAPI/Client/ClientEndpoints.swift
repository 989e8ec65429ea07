import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

// The Client API is what the Platform API offers on behalf of a user, without `/apps/{app}/users/{user}` in the path
// (client-api §4): an endpoint is declared once, and its handler serves both.

extension Endpoint {
    /// All endpoints of the Client API: how users log in, and what the user of a session may do (client-api §2, §4).
    public static let client: [Endpoint] =
        login
        + (views + viewChanges + parts + content + announcements).compactMap(\.forSessions)
        + followingForSessions + [identity, feed] + signals + pushTokens

    /// This endpoint for the user of a session instead of a user in the path; `nil` if it is not below the path of a user.
    private var forSessions: Endpoint? {
        let prefix = "/apps/{app}/users/{user}"
        guard path.description.hasPrefix("\(prefix)/") else { return nil }
        return forSessions(at: PathTemplate(String(path.description.dropFirst(prefix.count))))
    }

    /// This endpoint, for the user of a session, at another path.
    ///
    /// - Parameters:
    ///   - name: The name of the operation; `nil` for this one's without the word that names the perspective.
    ///   - versions: `nil` for those of this endpoint.
    private func forSessions(
        at path: PathTemplate, named name: String? = nil, in versions: Set<APIVersion>? = nil
    ) -> Endpoint {
        Endpoint(
            method, path, summary, isKeyed: isKeyed, isCompressed: isCompressed,
            hasExternalEffects: hasExternalEffects, scope: scope, needsDiskSpace: needsDiskSpace,
            takesTokenFromQuery: takesTokenFromQuery, family: .client,
            versions: versions ?? self.versions, check: check, handler
        ) { [describe] version, limits in
            let operation = describe(version, limits)
            let shortened = { (name: String) in name.replacing("User", with: "") }
            return operation.named(name ?? shortened(operation.name), shortened)
        }
    }

    /// The paths of following differ from those on behalf of a user, and 1.x does not have them (client-api §4.6).
    private static let followingForSessions: [Endpoint] = following.flatMap { endpoint in
        let identities: Set<APIVersion> = [.v2_0, .v3_0]
        switch endpoint.path.description.split(separator: "/").dropFirst(4).joined(separator: "/") {
        case "identities": return [endpoint.forSessions(at: "/identities", in: identities)]
        case "following" where endpoint.method == .get:
            return [endpoint.forSessions(at: "/following", in: identities)]
        case "following": return [endpoint.forSessions(at: "/following/users", in: identities)]
        default:
            let one = endpoint.forSessions(at: "/following/users/{followed}", in: identities)
            guard endpoint.method == .delete else { return [one] }
            return [
                one,
                endpoint.forSessions(
                    at: "/following/{followed}", named: "unfollowByShortPath", in: identities),
            ]
        }
    }

    /// Identities of any users of the application (client-api §4.6).
    private static let identity = Endpoint(
        .get, "/identities/{identity}", "Reads the identity of a user.", isCompressed: true,
        family: .client, versions: [.v2_0, .v3_0],
        .withoutBody { context in try await context.readIdentity() }
    ) { _ in
        Operation(
            "readIdentity", fields: [.ifNoneMatch],
            answers: [.ok(IdentityJSON.schema, "The identity.", [.tag]), .notModified])
    }
}
