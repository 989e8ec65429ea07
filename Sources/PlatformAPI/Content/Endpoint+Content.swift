import HTTP
import JSON
import MessagingWire

extension Endpoint {
    /// Rich content (platform-api §5.4).
    static let content = [
        Endpoint(
            .post, "/apps/{app}/conversations/{conversation}/content",
            "Announces content and says where to upload it.", reachesOutside: true,
            .head { call in try await call.createContent() }
        ) { _ in
            Operation(
                "createContent",
                fields: [
                    Parameter(
                        "Upload-Content-Type", .string, "Its media type.", isRequired: true),
                    Parameter(
                        "Upload-Content-Length", .integer(0...2_147_483_648), "Its bytes.",
                        isRequired: true),
                    Parameter(
                        "Upload-Origin", .string, "Whose pages may upload and download it."),
                ],
                answers: [.created(ContentJSON.announcedSchema, [.location])],
                errors: [.objectDeleted],
                example: Example(fields: [
                    ("Upload-Content-Type", "image/png"), ("Upload-Content-Length", "4821"),
                ]))
        },
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/content/{content}",
            "Gives content a fresh download URL.",
            .head { call in try await call.readContent() }
        ) { _ in
            Operation(
                "readContent", answers: [.ok(ContentJSON.schema, "The content.")],
                errors: [.objectDeleted])
        },
    ]
}
