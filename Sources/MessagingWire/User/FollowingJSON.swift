public import JSON
public import Messaging

/// Whom a user follows: identity ids in every version, as 1.x never knew of following
/// (platform-api §5.8, §1.3).
public enum FollowingJSON {
    /// Reads whom to follow; a bare id is understood as well.
    ///
    /// - Parameter body: An array.
    /// - Throws: `Rejection.invalid("following")` for an element that names nobody, and above
    ///   10,000 of them (proposed): the one writer takes a moment for each.
    public static func read(_ body: JSONValue) throws(Rejection) -> [UserID] {
        guard body.count <= UserPatchJSON.mostUsersNamed else {
            throw .invalid("following", .followingCount, .init(amount: body.count))
        }
        guard let users = UserIDJSON.list(body, .v2_0) else {
            throw .invalid("following", .followingUsers)
        }
        return users
    }

    /// Reads one who is named in a query parameter; `nil` for what names nobody.
    public static func user(_ text: String) -> UserID? { UserIDJSON.read(identity: text) }

    /// The answer to `GET …/following`.
    public static func bytes(_ users: [UserID]) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.array { writer in
            for user in users { writer.string(UserIDJSON.text(identity: user)) }
        }
        return writer.finish()
    }

    /// The answer to `GET …/identities`.
    public static func bytes(_ users: [User], _ links: LinkBuilder) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for user in users { IdentityJSON.write(user.identity, links, into: &writer) }
        }
        return writer.finish()
    }
}
