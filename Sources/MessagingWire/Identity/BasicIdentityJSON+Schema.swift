import JSON

extension BasicIdentityJSON {
    /// A user as objects mention him.
    static func schema(_ version: APIVersion) -> JSONSchema {
        guard version.namesIdentities else { return UserIDJSON.bareSchema }
        return .named(
            "BasicIdentity",
            .object([
                .required("id", UserIDJSON.schema(version)),
                .required("url", .url),
                .required("user_id", UserIDJSON.bareSchema),
                .required("display_name", JSONSchema.string.orNull),
                .required("avatar_url", JSONSchema.string.orNull),
            ]))
    }

    /// Who sent a message; a service that has only a name has no id.
    static func senderSchema(_ version: APIVersion) -> JSONSchema {
        guard version.namesIdentities else {
            return .object([
                .required("user_id", JSONSchema.string.orNull),
                .required("name", JSONSchema.string.orNull),
            ]).saying("Exactly one of both is not null.")
        }
        return .object([
            .required("id", UserIDJSON.schema(version).orNull),
            .required("url", JSONSchema.url.orNull),
            .required("user_id", UserIDJSON.bareSchema.orNull),
            .required("display_name", JSONSchema.string.orNull),
            .required("avatar_url", JSONSchema.string.orNull),
        ])
    }
}
