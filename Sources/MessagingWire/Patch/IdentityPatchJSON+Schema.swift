public import JSON
import Messaging

extension IdentityPatchJSON {
    /// What ``read(_:)`` reads; one operation may also come without its array.
    public static let schema = JSONSchema.named(
        "IdentityPatch",
        .array(
            of: .anyOf(
                Identity.Member.allCases.map { member in
                    set(member.rawValue, IdentityJSON.text(member))
                } + [
                    set("identity_type", IdentityJSON.kindSchema),
                    set("metadata", IdentityJSON.metadataSchema),
                    .object([
                        .required("operation", .choice(["set"])),
                        .required("property", .pattern("metadata[.][A-Za-z0-9_-]+")),
                        .required("value", .string(length: 0...2048)),
                    ]),
                    .object([
                        .required("operation", .choice(["delete"])),
                        .required("property", .pattern("metadata([.][A-Za-z0-9_-]+)?")),
                    ]),
                ])))

    private static func set(_ property: String, _ value: JSONSchema) -> JSONSchema {
        .object([
            .required("operation", .choice(["set"])), .required("property", .choice([property])),
            .required("value", value),
        ])
    }
}
