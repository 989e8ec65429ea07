import HTTP
import JSON
import Messaging
import MessagingWire

extension Endpoint {
    /// The parts of a message (platform-api §5.3), for the system and on behalf of a user
    /// (platform-api §5.14); 1.x does not know these paths (platform-api §1.3).
    static let parts = systemParts + userParts

    private static let systemParts = lines(
        below: "/apps/{app}/conversations/{conversation}/messages/{message}/parts", of: "", in: "",
        fields: [.contentLocation], errors: [.objectDeleted], example: nil)

    /// Only its sender may change the parts of a message (client-api §4.3), so the examples are the sender's.
    private static let userParts = lines(
        below: "/apps/{app}/users/{user}/messages/{message}/parts", of: "User", in: " for a user",
        fields: [], errors: [], example: Sample.writer)

    private static func lines(
        below path: String, of whose: String, in view: String, fields: [Parameter],
        errors: [APIErrorKind], example user: String?
    ) -> [Endpoint] {
        let (all, one) = (PathTemplate(path), PathTemplate("\(path)/{part}"))
        @Sendable func list(_ version: APIVersion) -> ResponseDescription {
            .ok(.array(of: MessagePartsJSON.schema(version)), "The parts.", [.tag] + fields)
        }
        @Sendable func part(_ version: APIVersion) -> ResponseDescription {
            .ok(MessagePartsJSON.schema(version), "The part.", [.tag] + fields)
        }
        return [
            line(
                .get, all, "Lists the parts of a message\(view).",
                .withoutBody { try await $0.listParts() }
            ) {
                Operation(
                    "list\(whose)Parts", fields: [.ifNoneMatch], answers: [list($0), .notModified],
                    errors: errors, example: Example(user: user))
            },
            line(
                .post, all, "Adds a part to a message\(view).",
                .jsonBody { try await $0.addPart($1) }
            ) {
                Operation(
                    "add\(whose)Part", body: MessagePartsJSON.draftSchema,
                    answers: [.created(MessagePartsJSON.schema($0), [.tag, .location] + fields)],
                    errors: errors + [.idInUse],
                    example: Example(
                        user: user,
                        body: #"{"mime_type":"text/plain","body":"or with the neighbour"}"#))
            },
            line(
                .put, all, "Replaces all parts of a message\(view).",
                .jsonBody { try await $0.replaceParts($1) }
            ) {
                Operation(
                    "replace\(whose)Parts",
                    body: .array(of: MessagePartsJSON.draftSchema, 1...Message.partLimit),
                    fields: [.ifMatch], answers: [list($0)], errors: errors,
                    example: Example(
                        user: user, body: #"[{"mime_type":"text/plain","body":"no keys"}]"#))
            },
            line(
                .get, one, "Reads a part of a message\(view).",
                .withoutBody { try await $0.readPart() }
            ) {
                Operation(
                    "read\(whose)Part", fields: [.ifNoneMatch], answers: [part($0), .notModified],
                    errors: errors, example: Example(user: user))
            },
            line(
                .put, one, "Replaces a part of a message\(view).",
                .jsonBody { try await $0.replacePart($1) }
            ) {
                Operation(
                    "replace\(whose)Part", body: MessagePartsJSON.heldSchema, fields: [.ifMatch],
                    answers: [part($0)], errors: errors,
                    example: Example(
                        user: user, body: #"{"mime_type":"text/plain","body":"no keys"}"#))
            },
            line(
                .delete, one, "Removes a part of a message\(view).",
                .withoutBody { try await $0.removePart() }
            ) { _ in
                Operation(
                    "remove\(whose)Part", fields: [.ifMatch],
                    answers: [.noContent([.tag] + fields)],
                    errors: errors + [.invalidOperation],
                    example: Example(user: user, after: ["add\(whose)Part"]))
            },
        ]
    }

    private static func line(
        _ method: Method, _ path: PathTemplate, _ summary: String, _ handler: Handler,
        _ operation: @escaping @Sendable (APIVersion) -> Operation
    ) -> Endpoint {
        Endpoint(
            method, path, summary, isCompressed: method == .get, versions: [.v2_0, .v3_0], handler,
            describe: operation)
    }
}
