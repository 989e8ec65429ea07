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
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/receipts",
            "Lists what the participants of a conversation have received and read.",
            isCompressed: true, .withoutBody { context in try await context.listReceipts() }
        ) { version in
            Operation(
                "listReceipts",
                query: [
                    Parameter(
                        "from", .integer(1 ... .max),
                        "The number of the first message, counted in the conversation from 1."),
                    Parameter("to", .integer(1 ... .max), "The number of the last message."),
                    Parameter(
                        "after_user", UserIDJSON.namingSchema(version),
                        "The last participant of the previous page, which is ordered by user id."),
                    Parameter(
                        "limit", .integer(1 ... .max),
                        "The number of participants; the default and the maximum is 100."),
                ],
                answers: [
                    .ok(
                        .array(of: ParticipantStatusJSON.schema),
                        "An item for each participant, in the form of a feed.",
                        [.contentLocation])
                ],
                errors: [.objectDeleted], example: Example(query: [("limit", "20")]))
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
            limit: size + 1, isCounted: query.isCounted, in: application)
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

    /// `GET /conversations/{C}/receipts`.
    func listReceipts() async throws -> Reply {
        let first = try query.count("from", .messageNumber, from: 1, upTo: .max) ?? 1
        let last = try query.count("to", .messageNumber, from: 1, upTo: .max) ?? .max
        let after = try query.user("after_user", version)
        let limit = try query.count("limit", .pageSize, from: 1, upTo: 100) ?? 100
        let requestedID = try conversation()
        let (own, found) = try await store.receipts(
            of: requestedID, at: first <= last ? IntervalSet(first...last) : IntervalSet(),
            after: after, limit: Int(limit), in: application)
        var writer = JSONWriter(capacity: 64 + 256 * found.count)
        writer.array { writer in
            for participant in found {
                ParticipantStatusJSON.write(
                    participant.receipts, of: participant.user,
                    presentAt: participant.presence, in: own, into: &writer)
            }
        }
        return Reply(.ok, writer.finish())
            .addingContentLocation(own, requestedAs: requestedID, links)
    }

    private func areFormer(_ text: String?) throws(Rejection) -> Bool {
        switch text {
        case nil, "current": false
        case "former": true
        default: throw .invalid("state", .participantState)
        }
    }
}
