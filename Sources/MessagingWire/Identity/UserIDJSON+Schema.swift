public import JSON

extension UserIDJSON {
    /// A user's own id, as paths and 1.x write it.
    public static let bareSchema = JSONSchema.storable(length: 1...128)

    /// The id of a user's identity.
    public static let identitySchema = JSONSchema.pattern("\(prefix).+")

    /// How answers name a user: by his id in 1.x, by that of his identity from 2.0 on.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        version.namesIdentities ? identitySchema : bareSchema
    }

    /// How requests name a user; from 2.0 on a bare id is understood as well.
    public static func namingSchema(_ version: APIVersion) -> JSONSchema {
        version.namesIdentities
            ? JSONSchema.storable(length: 1 ... .max)
                .saying("`layer:///identities/{user id}`, percent-encoded; or the bare user id.")
            : bareSchema
    }
}
