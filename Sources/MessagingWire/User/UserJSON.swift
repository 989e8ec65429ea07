public import JSON
public import Messaging

/// A user, whose `id` is bare in every version (platform-api §3.8).
public enum UserJSON {
    /// Returns the answer to a read of one user.
    public static func bytes(_ user: User, _ links: LinkBuilder) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        write(user, links, into: &writer)
        return writer.finish()
    }

    /// Returns a page of a list of users.
    public static func bytes(_ users: some Sequence<User>, _ links: LinkBuilder) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for user in users { write(user, links, into: &writer) }
        }
        return writer.finish()
    }

    private static func write(
        _ user: User, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", user.id.text)
            writer.key("identity")
            if let identity = user.knownIdentity {
                IdentityJSON.write(identity, links, into: &writer)
            } else {
                writer.null()
            }
            writer.member("suspended", user.isSuspended)
        }
    }
}

/// A user's blocked users in requests and responses (platform-api §5.9).
public enum BlockJSON {
    /// Reads the user to block by the bare id: only 1.x has this request.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    public static func read(_ body: JSONValue) throws(Rejection) -> UserID {
        guard let value = body.present("user_id") else { throw .missing("user_id") }
        guard let user = value.string.flatMap({ UserID($0) }) else {
            throw .invalid("user_id", .blockedUser)
        }
        return user
    }

    /// Returns the list of blocked users: objects with a `user_id` in 1.x, identities from 2.0 on.
    public static func bytes(
        _ blocked: [BasicIdentity], _ version: APIVersion, _ links: LinkBuilder
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.array { writer in
            for identity in blocked {
                if version.namesIdentities {
                    BasicIdentityJSON.write(identity, version, links, into: &writer)
                } else {
                    writer.object { $0.member("user_id", identity.userID.text) }
                }
            }
        }
        return writer.finish()
    }
}

/// The users that a user follows, as identity ids in every version, because the original 1.x had no such list
/// (platform-api §5.8, §1.3).
public enum FollowingJSON {
    /// Reads the users to follow; a bare id is accepted as well.
    ///
    /// - Parameter body: An array.
    /// - Throws: `Rejection.invalid("following")` for an invalid id, and for more than 10,000 users (proposed), because
    ///   each takes time on the single writer.
    public static func read(_ body: JSONValue) throws(Rejection) -> [UserID] {
        guard body.count <= UserPatchJSON.mostUsersNamed else {
            throw .invalid("following", .followingCount, .init(amount: body.count))
        }
        guard let users = UserIDJSON.list(body, .v2_0) else {
            throw .invalid("following", .followingUsers)
        }
        return users
    }

    /// Reads a user in a query parameter; `nil` for an invalid id.
    public static func user(_ text: String) -> UserID? { UserIDJSON.read(identity: text) }

    /// Returns the answer to `GET …/following`.
    public static func bytes(_ users: [UserID]) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.array { writer in
            for user in users { writer.string(UserIDJSON.text(identity: user)) }
        }
        return writer.finish()
    }

    /// Returns the answer to `GET …/identities`.
    public static func bytes(_ users: [User], _ links: LinkBuilder) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for user in users { IdentityJSON.write(user.identity, links, into: &writer) }
        }
        return writer.finish()
    }
}

extension UserJSON {
    /// The schema of what ``bytes(_:_:)`` writes.
    public static let schema = JSONSchema.named(
        "User",
        .object([
            .required("id", UserIDJSON.bareSchema),
            .required("identity", IdentityJSON.schema.orNull),
            .required("suspended", .boolean),
        ]))
}

extension BlockJSON {
    /// The schema of one of the users that ``bytes(_:_:_:)`` lists.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        version.namesIdentities
            ? BasicIdentityJSON.schema(version)
            : .named("Block", .object([.required("user_id", UserIDJSON.bareSchema)]))
    }

    /// The schema of what ``read(_:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "BlockDraft", .object([.required("user_id", UserIDJSON.bareSchema)]))
}

extension FollowingJSON {
    /// The schema of what ``read(_:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "FollowingDraft",
        .array(of: UserIDJSON.namingSchema(.v3_0), 0...UserPatchJSON.mostUsersNamed))
}
