public import JSON
import Messaging

extension EventJSON {
    /// An event of whatever type.
    public static let schema = JSONSchema.named(
        "Event", shape(.object([]), .choice(EventType.allCases.map(\.rawValue))))

    /// What a page of the log is.
    public static let listSchema = JSONSchema.object([
        .required("events", .array(of: schema)),
        .required(
            "next", JSONSchema.integer(0 ... .max).saying("What to say as `after` next time.")),
    ])

    static func shape(_ data: JSONSchema, _ type: JSONSchema) -> JSONSchema {
        .object([
            .required("id", .uuid),
            .required("position", .integer(1 ... .max)),
            .required("type", type),
            .required("at", .time),
            .required("actor", actor.orNull),
            .required("subject", JSONSchema.string.saying("The id of what it happened to.")),
            .required("data", data),
            .required("changes", .object([])),
        ])
    }

    private static let actor = JSONSchema.anyOf([
        .object([.required("user_id", UserIDJSON.bareSchema)]),
        .object([.required("name", .string)]),
        .object([.required("token", .uuid)]),
    ])
}
