import JSON
public import Messaging

/// A user, whose `id` is the bare one in every version (platform-api §3.8).
public enum UserJSON {
    /// The answer to `GET`.
    public static func bytes(_ user: User, _ links: LinkBuilder) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
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
        return writer.finish()
    }
}
