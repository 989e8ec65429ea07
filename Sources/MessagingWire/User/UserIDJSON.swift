public import JSON
public import Messaging

/// The id of a user: the bare id up to 1.1, `layer:///identities/{enc}` from 2.0 on (platform-api §1.3).
public enum UserIDJSON {
    private static let prefix = "layer:///identities/"

    /// Returns the id of a user in the form of a version.
    public static func text(_ user: UserID, _ version: APIVersion) -> String {
        version.namesIdentities ? text(identity: user) : user.text
    }

    /// Returns the identity id of a user.
    static func text(identity user: UserID) -> String {
        prefix + URIComponent.encoded(user.text)
    }

    /// Reads a user's id; from 2.0 on a bare id is accepted as well.
    ///
    /// - Returns: `nil` for an invalid ``Messaging/UserID``, and for an identity id that cannot be decoded.
    static func read(_ value: JSONValue, _ version: APIVersion) -> UserID? {
        guard let text = value.string else { return nil }
        return version.namesIdentities ? read(identity: text) : UserID(text)
    }

    /// Reads a user's id from a query, in the form of the version's bodies.
    public static func read(query text: String, _ version: APIVersion) -> UserID? {
        version.namesIdentities ? read(identity: text) : UserID(text)
    }

    /// Reads an identity id, or a bare user id.
    static func read(identity text: String) -> UserID? {
        guard text.utf8.starts(with: prefix.utf8) else { return UserID(text) }
        return URIComponent.decoded(text.dropFirst(prefix.count)).flatMap { UserID($0) }
    }
}

extension UserIDJSON {
    /// Reads an array of ids in order, without duplicates; `nil` if any is invalid.
    static func list(_ value: JSONValue, _ version: APIVersion) -> [UserID]? {
        guard value.kind == .array else { return nil }
        var known: Set<UserID> = []
        var users: [UserID] = []
        for element in value.elements {
            guard let user = read(element, version) else { return nil }
            if known.insert(user).inserted { users.append(user) }
        }
        return users
    }
}

extension UserIDJSON {
    /// The schema of a user's bare id, as paths and 1.x write it.
    public static let bareSchema = JSONSchema.storable(length: 1...128)

    /// The schema of the id of a user's identity.
    public static let identitySchema = JSONSchema.pattern("\(prefix).+")

    /// The schema of the id of a user in responses: bare in 1.x, that of the identity from 2.0 on.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        version.namesIdentities ? identitySchema : bareSchema
    }

    /// The schema of the id of a user in requests; from 2.0 on a bare id is accepted as well.
    public static func namingSchema(_ version: APIVersion) -> JSONSchema {
        version.namesIdentities
            ? JSONSchema.storable(length: 1 ... .max)
                .withDescription(
                    "`layer:///identities/{user id}`, percent-encoded; or the bare user id.")
            : bareSchema
    }
}
