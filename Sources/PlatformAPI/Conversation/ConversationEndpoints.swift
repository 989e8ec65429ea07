import HTTP
import JSON
import MessagingWire

extension Endpoint {
    /// The system's perspective on conversations (platform-api §5.1).
    static let conversations = [
        Endpoint(
            .post, "/apps/{app}/conversations", "Creates a conversation.", isKeyed: true,
            .jsonBody { context, body in try await context.createConversation(body) }
        ) { version, limits in
            Operation(
                "createConversation", body: ConversationDraftJSON.schema(version, limits),
                answers: [
                    .created(
                        ConversationJSON.schema(version), [.tag, .location, .contentLocation]),
                    .ok(
                        ConversationJSON.schema(version),
                        "The existing distinct conversation of these participants.",
                        [.tag, .location, .contentLocation]),
                ],
                errors: [.notFound, .objectDeleted, .conflict, .idInUse],
                example: Example(
                    body: """
                        {"participants":[\(Sample.name(Sample.writer, version)),\
                        \(Sample.name(Sample.reader, version))],"metadata":{"topic":"rent"},\
                        "id":"\(Sample.conversation)"}
                        """))
        },
        Endpoint(
            .get, "/apps/{app}/conversations", "Lists the conversations of the application.",
            isCompressed: true, .withoutBody { context in try await context.listConversations() }
        ) { version in
            Operation(
                "listConversations",
                query: Parameter.page(of: .conversations) + Parameter.conversationFilters
                    + Parameter.details,
                answers: [.list(of: ConversationJSON.detailedSchema(version), [.contentLocation])],
                errors: [.notFound, .invalidOperation],
                example: Example(query: [("distinct", "false")], after: ["createConversation"]))
        },
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}", "Reads a conversation.",
            isCompressed: true,
            .withoutBody { context in try await context.readConversation() }
        ) { version in
            Operation(
                "readConversation", query: Parameter.asOf + Parameter.details,
                fields: [.ifNoneMatch],
                answers: [
                    .ok(
                        ConversationJSON.detailedSchema(version), "The conversation.",
                        [.tag, .contentLocation]),
                    .notModified,
                ], errors: [.objectDeleted, .positionGone])
        },
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/aliases",
            "Lists the other ids of a conversation.",
            .withoutBody { context in try await context.listAliases() }
        ) { _ in
            Operation(
                "listAliases",
                answers: [
                    .ok(
                        .array(of: ConversationAliasJSON.schema),
                        "The ids of conversations that were merged into this one, and those "
                            + "proposed for it.", [.contentLocation])
                ], errors: [.objectDeleted])
        },
        Endpoint(
            .patch, "/apps/{app}/conversations/{conversation}",
            "Changes participants and metadata.",
            .jsonBody { context, body in try await context.patchConversation(body) }
        ) { version, limits in
            Operation(
                "patchConversation", body: ConversationPatchJSON.schema(version, limits),
                fields: [.ifMatch, .prefer],
                answers: [
                    .noContent([.tag, .contentLocation]),
                    .represented(ConversationJSON.schema(version)),
                ], errors: [.objectDeleted],
                example: Example(
                    body: """
                        [{"operation":"add","property":"participants",\
                        "\(version.namesIdentities ? "id" : "value")":\
                        \(Sample.name("cy", version))},\
                        {"operation":"set","property":"metadata.topic","value":"keys"}]
                        """))
        },
        Endpoint(
            .delete, "/apps/{app}/conversations/{conversation}",
            "Deletes a conversation for all participants.",
            .withoutBody { context in try await context.deleteConversation() }
        ) { _ in
            Operation(
                "deleteConversation", fields: [.ifMatch], answers: [.noContent([.contentLocation])])
        },
    ]
}
