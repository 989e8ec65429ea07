import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PUT /users/{f}/following/{u}` (platform-api §5.8).
    func follow() async throws -> Reply {
        try await store.follow([followed()], by: user(), in: application)
        return .noContent
    }

    /// `POST /users/{f}/following`: done at once, answered as the original does.
    func followAll(_ body: JSONValue) async throws -> Reply {
        let users = try FollowingJSON.read(body.asArray())
        try await store.follow(users, by: user(), in: application)
        return Reply(.accepted)
    }

    /// `DELETE /users/{f}/following/{u}`: a conversation both are in still connects (ruling 19).
    func unfollow() async throws -> Reply {
        try await store.unfollow(followed(), by: user(), in: application)
        return .noContent
    }

    /// `GET /users/{f}/following/{u}`.
    func readFollowing() async throws -> Reply {
        guard try await store.isFollowing(followed(), by: user(), in: application) else {
            throw Rejection.notFound(.identity)
        }
        return .noContent
    }

    private func followed() throws(Rejection) -> UserID {
        guard let user = parameters["followed"].flatMap({ UserID($0) }) else {
            throw .notFound(.identity)
        }
        return user
    }
}
