import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The users that a user blocks; from 2.0 on the list changes by a patch of the user (platform-api §5.9).
    static let blocks = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/blocks", "Lists the users that a user blocks.",
            isCompressed: true, .withoutBody { context in try await context.listBlocks() }
        ) { version in
            Operation(
                "listBlocks",
                answers: [
                    .ok(.array(of: BlockJSON.schema(version)), "The list, in no special order.")
                ], example: Example(after: ["patchUser"]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/blocks", "Blocks a user for another.",
            versions: [.v1_0, .v1_1], .jsonBody { context, body in try await context.block(body) }
        ) { _ in
            Operation(
                "block", body: BlockJSON.draftSchema, answers: [.noContent],
                example: Example(body: #"{"user_id":"cy"}"#))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/blocks/{blocked}", "Unblocks a user.",
            versions: [.v1_0, .v1_1], .withoutBody { context in try await context.unblock() }
        ) { _ in
            Operation("unblock", answers: [.noContent])
        },
    ]
}

extension RequestContext {
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

    /// `DELETE /users/{u}/blocks/{b}` (1.x); 204 also for a user that is not blocked.
    func unblock() async throws -> Reply {
        guard let blocked = parameters["blocked"].flatMap({ UserID($0) }) else {
            throw Rejection.notFound(.user)
        }
        try await store.patchUser(user(), [.unblock(blocked)], in: application)
        return .noContent
    }
}

extension RequestContext {
    /// `GET /users/{u}/blocks`: empty also for an unknown user (platform-api §3.9).
    func listBlocks() async throws -> Reply {
        let blocked = try await store.blocks(of: user(), in: application)
        return Reply(.ok, BlockJSON.bytes(blocked, version, links))
    }
}
