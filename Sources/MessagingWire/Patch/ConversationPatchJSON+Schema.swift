public import JSON
public import Messaging

extension ConversationPatchJSON {
    /// What ``read(_:_:_:)`` reads; one operation may also come without its array.
    public static func schema(_ version: APIVersion, _ limits: MessagingLimits) -> JSONSchema {
        .named(
            "ConversationPatch",
            .array(of: .anyOf([participant(version)] + others(version, limits))))
    }

    private static func participant(_ version: APIVersion) -> JSONSchema {
        .object([
            .required("operation", .choice(["add", "remove"])),
            .required("property", .choice(["participants"])),
            .required(version.namesIdentities ? "id" : "value", UserIDJSON.namingSchema(version)),
        ])
    }

    private static func others(
        _ version: APIVersion, _ limits: MessagingLimits
    ) -> [JSONSchema] {
        let path = JSONSchema.text(JSONTextSchema(pattern: "^metadata([.][A-Za-z0-9_-]+)*$"))
        return [
            .object([
                .required("operation", .choice(["set"])),
                .required("property", .choice(["participants"])),
                .required(
                    "value",
                    .array(of: UserIDJSON.namingSchema(version), 0...limits.participants)),
            ]),
            .object([
                .required("operation", .choice(["set"])),
                .required("property", path),
                .required("value", .anyOf([.string(length: 0...2048), MetadataJSON.schema])),
            ]),
            .object([
                .required("operation", .choice(["delete"])), .required("property", path),
            ]),
        ]
    }
}
