public import JSON

extension UserJSON {
    /// What ``bytes(_:_:)`` writes.
    public static let schema = JSONSchema.named(
        "User",
        .object([
            .required("id", UserIDJSON.bareSchema),
            .required("identity", IdentityJSON.schema.orNull),
            .required("suspended", .boolean),
        ]))
}

extension BlockJSON {
    /// One of those ``bytes(_:_:_:)`` lists.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        version.namesIdentities
            ? BasicIdentityJSON.schema(version)
            : .named("Block", .object([.required("user_id", UserIDJSON.bareSchema)]))
    }

    /// What ``read(_:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "BlockDraft", .object([.required("user_id", UserIDJSON.bareSchema)]))
}

extension FollowingJSON {
    /// What ``read(_:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "FollowingDraft",
        .array(of: UserIDJSON.namingSchema(.v3_0), 0...UserPatchJSON.mostUsersNamed))
}
