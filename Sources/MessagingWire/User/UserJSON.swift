import JSON
public import Messaging

/// A user, whose `id` is the bare one in every version (platform-api §3.8).
public enum UserJSON {
    /// The answer to `GET`.
    public static func bytes(_ user: User, _ links: LinkBuilder) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        write(user, links, into: &writer)
        return writer.finish()
    }

    /// A page of a list.
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
