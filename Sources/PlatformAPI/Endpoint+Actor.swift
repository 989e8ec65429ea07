import HTTP
import Messaging

extension Endpoint {
    /// On whose account its changes are recorded (X3): the user's below whose path somebody acts for
    /// him, else that of the credential.
    func actor(for user: String?, or token: Token.ID) -> Actor {
        guard isOnBehalf, let user = user.flatMap({ UserID($0) }) else { return .token(token) }
        return .user(user)
    }

    /// What a user would do himself. The rest below his path is done to him: what is told about him,
    /// his suspension, his badge and his sessions.
    static func isOnBehalf(_ path: PathTemplate) -> Bool {
        let segments = path.description.split(separator: "/")
        return segments.count > 4 && segments[2] == "users"
            && ["conversations", "messages", "announcements", "content", "following", "blocks"]
                .contains(segments[4])
    }

    /// A stream, a request that waits for an event, and moving an application last as long as they
    /// like.
    var policy: BodyPolicy {
        switch handler {
        case .streamed: BodyPolicy(limit: BodyPolicy.ordinary.limit, isTimed: false)
        case .pulled: BodyPolicy(limit: BodyReading.pulledLimit, isTimed: false)
        case .head where needsRoom: BodyPolicy(limit: BodyPolicy.ordinary.limit, isTimed: false)
        case .head, .recalled, .body: .ordinary
        }
    }
}
