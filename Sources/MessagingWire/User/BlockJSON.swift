public import JSON
public import Messaging

/// Whom a user blocks: body and answer (platform-api §5.9).
public enum BlockJSON {
    /// Reads whom to block; 1.x only, so by his bare id.
    ///
    /// - Parameter body: An object; members it does not know are ignored.
    public static func read(_ body: JSONValue) throws(Rejection) -> UserID {
        guard let value = body.present("user_id") else { throw .missing("user_id") }
        guard let user = value.string.flatMap({ UserID($0) }) else {
            throw .invalid("user_id", .blockedUser)
        }
        return user
    }

    /// The answer to `GET`: objects with a `user_id` in 1.x, identities from 2.0 on.
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
