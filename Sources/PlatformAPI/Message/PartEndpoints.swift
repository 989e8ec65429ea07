import HTTP
import JSON
import Messaging
import MessagingWire

extension Endpoint {
    /// The parts of a message (platform-api §5.3), for the system and on behalf of a user
    /// (platform-api §5.14); versions 1.x do not have these paths (platform-api §1.3).
    static let parts = systemParts + userParts

    private static let systemParts = endpoints(
        below: "/apps/{app}/conversations/{conversation}/messages/{message}/parts", infix: "",
        suffix: "",
        fields: [.contentLocation], errors: [.objectDeleted], example: nil)

    /// Only its sender may change the parts of a message (client-api §4.3), so the examples are the sender's.
    private static let userParts = endpoints(
        below: "/apps/{app}/users/{user}/messages/{message}/parts", infix: "User",
        suffix: " for a user",
        fields: [], errors: [], example: Sample.writer)

    /// - Parameters:
    ///   - infix: The word in the names of the operations that names the perspective.
    ///   - suffix: The words at the end of the summaries that name the perspective.
    ///   - user: The user in the path of the examples; `nil` for the default.
    private static func endpoints(
        below path: String, infix: String, suffix: String, fields: [Parameter],
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
            endpoint(
                .get, all, "Lists the parts of a message\(suffix).",
                .withoutBody { try await $0.listParts() }
            ) {
                Operation(
                    "list\(infix)Parts", fields: [.ifNoneMatch], answers: [list($0), .notModified],
                    errors: errors, example: Example(user: user))
            },
            endpoint(
                .post, all, "Adds a part to a message\(suffix).",
                .jsonBody { try await $0.addPart($1) }
            ) {
                Operation(
                    "add\(infix)Part", body: MessagePartsJSON.draftSchema,
                    answers: [.created(MessagePartsJSON.schema($0), [.tag, .location] + fields)],
                    errors: errors + [.idInUse],
                    example: Example(
                        user: user,
                        body: #"{"mime_type":"text/plain","body":"or with the neighbour"}"#))
            },
            endpoint(
                .put, all, "Replaces all parts of a message\(suffix).",
                .jsonBody { try await $0.replaceParts($1) }
            ) {
                Operation(
                    "replace\(infix)Parts",
                    body: .array(of: MessagePartsJSON.draftSchema, 1...Message.partLimit),
                    fields: [.ifMatch], answers: [list($0)], errors: errors,
                    example: Example(
                        user: user, body: #"[{"mime_type":"text/plain","body":"no keys"}]"#))
            },
            endpoint(
                .get, one, "Reads a part of a message\(suffix).",
                .withoutBody { try await $0.readPart() }
            ) {
                Operation(
                    "read\(infix)Part", fields: [.ifNoneMatch], answers: [part($0), .notModified],
                    errors: errors, example: Example(user: user))
            },
            endpoint(
                .put, one, "Replaces a part of a message\(suffix).",
                .jsonBody { try await $0.replacePart($1) }
            ) {
                Operation(
                    "replace\(infix)Part", body: MessagePartsJSON.replacementSchema,
                    fields: [.ifMatch],
                    answers: [part($0)], errors: errors,
                    example: Example(
                        user: user, body: #"{"mime_type":"text/plain","body":"no keys"}"#))
            },
            endpoint(
                .delete, one, "Removes a part of a message\(suffix).",
                .withoutBody { try await $0.removePart() }
            ) { _ in
                Operation(
                    "remove\(infix)Part", fields: [.ifMatch],
                    answers: [.noContent([.tag] + fields)],
                    errors: errors + [.invalidOperation],
                    example: Example(user: user, after: ["add\(infix)Part"]))
            },
        ]
    }

    private static func endpoint(
        _ method: Method, _ path: PathTemplate, _ summary: String, _ handler: Handler,
        _ operation: @escaping @Sendable (APIVersion) -> Operation
    ) -> Endpoint {
        Endpoint(
            method, path, summary, isCompressed: method == .get, versions: [.v2_0, .v3_0], handler,
            describe: operation)
    }
}
