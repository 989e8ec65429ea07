import HTTP
import JSON
import MessagingWire

extension Endpoint {
    /// Whom a user blocks; from 2.0 on the list changes by a patch of the user (platform-api §5.9).
    static let blocks = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/blocks", "Lists whom a user blocks.",
            isCompressed: true, .head { call in try await call.listBlocks() }
        ) { version in
            Operation(
                "listBlocks",
                answers: [
                    .ok(.array(of: BlockJSON.schema(version)), "The list, in no special order.")
                ], example: Example(after: ["patchUser"]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/blocks", "Blocks somebody for a user.",
            versions: [.v1_0, .v1_1], .body { call, body in try await call.block(body) }
        ) { _ in
            Operation(
                "block", body: BlockJSON.draftSchema, answers: [.noContent],
                example: Example(body: #"{"user_id":"cy"}"#))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/blocks/{blocked}", "Lifts a user's block.",
            versions: [.v1_0, .v1_1], .head { call in try await call.unblock() }
        ) { _ in
            Operation("unblock", answers: [.noContent])
        },
    ]
}
