import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /users/{u}/blocks` (1.x).
    func block(_ body: JSONValue) async throws -> Reply {
        let blocked = try BlockJSON.read(body.asObject())
        do {
            try await store.patchUser(user(), [.block(blocked)], in: application)
        } catch Rejection.invalid(_, .blockCount, let detail) {
            // The body names one user; there is no member `blocks`.
            throw Rejection.invalid("user_id", .blockCount, detail)
        }
        return .noContent
    }

    /// `DELETE /users/{u}/blocks/{b}` (1.x): also who is not blocked.
    func unblock() async throws -> Reply {
        guard let blocked = parameters["blocked"].flatMap({ UserID($0) }) else {
            throw Rejection.notFound(.user)
        }
        try await store.patchUser(user(), [.unblock(blocked)], in: application)
        return .noContent
    }
}
