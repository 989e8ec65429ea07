import JSON

extension NotificationJSON {
    /// What ``read(_:)`` reads; the form of `recipients` is that of the version, others are taken too.
    static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "Notification",
            .object(texts + [.optional("recipients", recipients(version))]))
    }

    private static func recipients(_ version: APIVersion) -> JSONSchema {
        switch version {
        case .v1_0: .object([], others: .object(texts))
        case .v1_1: .array(of: .object([.required("user_id", UserIDJSON.bareSchema)] + texts))
        case .v2_0, .v3_0:
            .array(
                of: .object([.required("recipient", UserIDJSON.namingSchema(version))] + texts))
        }
    }

    private static let texts: [JSONSchema.Member] =
        ["title", "text", "sound", "category", "title-loc-key", "loc-key", "action-loc-key"].map {
            name in .optional(name, .string)
        } + [
            .optional("title-loc-args", .array(of: .string)),
            .optional("loc-args", .array(of: .string)),
            .optional("data", .object([], others: .string)),
            .optional("apns", .object([])),
        ]
}
