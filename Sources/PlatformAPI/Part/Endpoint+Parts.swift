import HTTP
import JSON
import Messaging
import MessagingWire

extension Endpoint {
    /// The parts of a message (platform-api §5.3); 1.x does not know these paths (§1.3).
    static let parts = [
        Endpoint(
            .get, parts(), "Lists the parts of a message.", isCompressed: true,
            versions: [.v2_0, .v3_0], .head { call in try await call.listParts() }
        ) { version in
            Operation(
                "listParts", fields: [.ifNoneMatch],
                answers: [
                    .ok(
                        .array(of: MessagePartsJSON.schema(version)), "The parts.",
                        [.tag, .contentLocation]),
                    .notModified,
                ], errors: [.objectDeleted])
        },
        Endpoint(
            .post, parts(), "Adds a part to a message.", versions: [.v2_0, .v3_0],
            .body { call, body in try await call.addPart(body) }
        ) { version in
            Operation(
                "addPart", body: MessagePartsJSON.draftSchema,
                answers: [
                    .created(
                        MessagePartsJSON.schema(version), [.tag, .location, .contentLocation])
                ], errors: [.objectDeleted, .idInUse],
                example: Example(
                    body: #"{"mime_type":"text/plain","body":"or with the neighbour"}"#))
        },
        Endpoint(
            .put, parts(), "Replaces all parts of a message.", versions: [.v2_0, .v3_0],
            .body { call, body in try await call.replaceParts(body) }
        ) { version in
            Operation(
                "replaceParts",
                body: .array(of: MessagePartsJSON.draftSchema, 1...Message.partLimit),
                fields: [.ifMatch],
                answers: [
                    .ok(
                        .array(of: MessagePartsJSON.schema(version)), "The parts.",
                        [.tag, .contentLocation])
                ], errors: [.objectDeleted, .idInUse],
                example: Example(body: #"[{"mime_type":"text/plain","body":"no keys"}]"#))
        },
        Endpoint(
            .get, parts("/{part}"), "Reads a part of a message.", isCompressed: true,
            versions: [.v2_0, .v3_0], .head { call in try await call.readPart() }
        ) { version in
            Operation(
                "readPart", fields: [.ifNoneMatch],
                answers: [
                    .ok(MessagePartsJSON.schema(version), "The part.", [.tag, .contentLocation]),
                    .notModified,
                ], errors: [.objectDeleted])
        },
        Endpoint(
            .put, parts("/{part}"), "Replaces a part of a message.", versions: [.v2_0, .v3_0],
            .body { call, body in try await call.replacePart(body) }
        ) { version in
            Operation(
                "replacePart", body: MessagePartsJSON.heldSchema, fields: [.ifMatch],
                answers: [
                    .ok(MessagePartsJSON.schema(version), "The part.", [.tag, .contentLocation])
                ], errors: [.objectDeleted],
                example: Example(body: #"{"mime_type":"text/plain","body":"no keys"}"#))
        },
        Endpoint(
            .delete, parts("/{part}"), "Removes a part of a message.", versions: [.v2_0, .v3_0],
            .head { call in try await call.removePart() }
        ) { _ in
            Operation(
                "removePart", fields: [.ifMatch], answers: [.noContent([.tag, .contentLocation])],
                errors: [.objectDeleted, .invalidOperation],
                example: Example(after: ["addPart"]))
        },
    ]

    private static func parts(_ end: String = "") -> PathTemplate {
        PathTemplate("/apps/{app}/conversations/{conversation}/messages/{message}/parts\(end)")
    }
}
