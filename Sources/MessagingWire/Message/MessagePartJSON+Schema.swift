import JSON

extension MessagePartJSON {
    /// A part as answers show it.
    static func schema(_ version: APIVersion) -> JSONSchema {
        var members: [JSONSchema.Member] = [.required("id", .string)]
        if version == .v3_0 {
            members.append(.required("url", .url))
            members.append(.required("message_url", .url))
        }
        members += [
            .required("mime_type", .string),
            .required("body", JSONSchema.string.orNull),
            .required("encoding", JSONSchema.choice(["base64"]).orNull),
            .required("content", ContentJSON.schema.orNull),
        ]
        if version == .v3_0 { members.append(.required("updated_at", JSONSchema.time.orNull)) }
        return .named("MessagePart", .object(members))
    }

    /// A part as requests bring it: with `body`, or with `content`.
    static let draftSchema = JSONSchema.named(
        "MessagePartDraft", .object(held + [.optional("id", .string)]))

    /// What a part that has its names already shall hold.
    static let heldSchema = JSONSchema.named("MessagePartHeld", .object(held))

    private static let held: [JSONSchema.Member] = [
        .required("mime_type", .text(JSONTextSchema(pattern: "^[^\\x00]+/[^\\x00]+$"))),
        .optional(
            "body",
            JSONSchema.string.saying("At most 2048 bytes; with `content` it says nothing.")),
        .optional("encoding", .choice(["base64"])),
        .optional(
            "content",
            .object([
                .required("id", .name(in: .content)),
                .optional("size", .integer(0 ... .max)),
            ])),
    ]
}
