public import JSON
import Messaging

extension ApplicationPatchJSON {
    /// What ``read(_:)`` reads; one operation may also come without its array.
    public static let schema = JSONSchema.named(
        "ApplicationPatch",
        .array(
            of: .object([
                .required("operation", .choice(["set"])),
                .required("property", .choice(["session_ttl_in_seconds"])),
                .required("value", .integer(Application.sessionLifetimes)),
            ])))
}
