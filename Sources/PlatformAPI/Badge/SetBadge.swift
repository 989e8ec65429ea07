import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PUT /users/{u}/badge`.
    func setBadge(_ body: JSONValue) async throws -> Reply {
        let count = try BadgeJSON.read(body.asObject())
        try await store.setBadge(of: user(), externalUnreadCount: count, in: application)
        return .noContent
    }

    /// `PATCH /users/{u}/badge`: a patch without operations wants nothing but that the user exists.
    func patchBadge(_ body: JSONValue) async throws -> Reply {
        guard let count = try BadgePatchJSON.read(body.asPatch()) else {
            _ = try await store.user(user(), in: application)
            return .noContent
        }
        try await store.setBadge(of: user(), externalUnreadCount: count, in: application)
        return .noContent
    }
}
