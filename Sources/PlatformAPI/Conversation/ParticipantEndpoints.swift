import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The participants of a conversation, for all that are more than it lists itself (ruling 38).
    static let participants = [
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/participants",
            "Lists the participants of a conversation.", isCompressed: true,
            .withoutBody { context in try await context.listParticipants() }
        ) { version in
            Operation(
                "listParticipants", query: Parameter.pageOfParticipants(version),
                answers: [.list(of: BasicIdentityJSON.schema(version), [.contentLocation])],
                errors: [.objectDeleted], example: Example(query: [("page_size", "20")]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/conversations/{conversation}/participants",
            "Lists the participants of a conversation for a user.", isCompressed: true,
            .withoutBody { context in try await context.listParticipants() }
        ) { version in
            Operation(
                "listUserParticipants", query: Parameter.pageOfParticipants(version),
                answers: [.list(of: BasicIdentityJSON.schema(version), [.contentLocation])],
                example: Example(query: [("page_size", "20")], after: ["sendMessage"]))
        },
    ]
}

extension Parameter {
    fileprivate static func pageOfParticipants(_ version: APIVersion) -> [Parameter] {
        page(from: UserIDJSON.namingSchema(version)) + [
            Parameter(
                "state", .choice(["current", "former"]),
                "Whether current or former participants are listed; current ones by default.")
        ]
    }
}

extension RequestContext {
    /// `GET /conversations/{C}/participants` and `GET /users/{u}/conversations/{C}/participants` (ruling 38).
    func listParticipants() async throws -> Reply {
        let size = try query.pageSize(atMost: 100)
        let after = try query.user("from_id", version)
        let areFormer = try areFormer(query["state"])
        let perspective = isForUser ? Perspective.user(try user()) : .system
        // One more than is shown, so that the last page is known as the last (X5).
        let found = try await store.participants(
            in: conversation(), areFormer: areFormer, seenBy: perspective, after: after,
            limit: size + 1, in: application)
        let links = links(perspective)
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for identity in found.items.prefix(size) {
                BasicIdentityJSON.write(identity, version, links, into: &writer)
            }
        }
        let reply = try listing(writer.finish(), of: found, size: size) { identity in
            UserIDJSON.text(identity.userID, version)
        }
        return try addingListLocation(of: found, to: reply)
    }

    private func areFormer(_ text: String?) throws(Rejection) -> Bool {
        switch text {
        case nil, "current": false
        case "former": true
        default: throw .invalid("state", .participantState)
        }
    }
}
