public import JSON
public import Messaging

/// Users as other objects mention them (platform-api §3.1).
public enum BasicIdentityJSON {
    /// Writes a user: the id in 1.x, the identity from 2.0 on.
    public static func write(
        _ identity: BasicIdentity, _ version: APIVersion, _ links: LinkBuilder,
        into writer: inout JSONWriter
    ) {
        guard version.namesIdentities else { return writer.string(identity.userID.text) }
        write(identity, url: links.identity(identity.userID), into: &writer)
    }

    /// Writes a user's identity with its URL.
    static func write(_ identity: BasicIdentity, url: String, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", UserIDJSON.text(identity: identity.userID))
            writer.member("url", url)
            writer.member("user_id", identity.userID.text)
            writer.member("display_name", identity.displayName)
            writer.member("avatar_url", identity.avatarURL)
        }
    }

    /// Writes the sender of a message in the form of each version (platform-api §1.3, §3.3).
    static func write(
        sender: Sender, _ identity: BasicIdentity?, _ version: APIVersion, _ links: LinkBuilder,
        into writer: inout JSONWriter
    ) {
        switch sender {
        case .user(let user):
            let identity = identity ?? BasicIdentity(userID: user)
            if version.namesIdentities {
                write(identity, version, links, into: &writer)
            } else if identity.kind == .bot, let name = identity.displayName {
                // 1.x has no bots: a program is a service with a name.
                write(userID: nil, name: name, into: &writer)
            } else {
                write(userID: user.text, name: nil, into: &writer)
            }
        case .named(let name):
            if version.namesIdentities {
                writer.object { writer in
                    writer.member("id", nil)
                    writer.member("url", nil)
                    writer.member("user_id", nil)
                    writer.member("display_name", name)
                    writer.member("avatar_url", nil)
                }
            } else {
                write(userID: nil, name: name, into: &writer)
            }
        }
    }

    private static func write(userID: String?, name: String?, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("user_id", userID)
            writer.member("name", name)
        }
    }
}

extension BasicIdentityJSON {
    /// The schema of a user in other objects.
    public static func schema(_ version: APIVersion) -> JSONSchema {
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

    /// The schema of the sender of a message; a service that has only a name has no id.
    static func senderSchema(_ version: APIVersion) -> JSONSchema {
        guard version.namesIdentities else {
            return .object([
                .required("user_id", JSONSchema.string.orNull),
                .required("name", JSONSchema.string.orNull),
            ]).withDescription("Exactly one of `user_id` and `name` is not null.")
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

extension BasicIdentityJSON {
    /// Writes a sender or an actor in a webhook request, where the URLs of identities differ from those in responses
    /// (webhooks §4.1).
    static func writeForWebhook(
        _ sender: Sender, _ identity: BasicIdentity?, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        if case .user(let user) = sender, presentation.version.namesIdentities {
            write(
                identity ?? BasicIdentity(userID: user),
                url: presentation.links.webhookIdentity(user), into: &writer)
        } else {
            write(
                sender: sender, identity, presentation.version, presentation.links, into: &writer)
        }
    }
}

extension BasicIdentityJSON {
    /// Reads a user as 2.0 and later write it; `nil` if it has no valid id.
    ///
    /// The kind is not in this form; it is read as ``Identity/Kind/user``.
    static func read(_ object: JSONValue) -> BasicIdentity? {
        guard let user = object["user_id"]?.string.flatMap({ text in UserID(text) }) else {
            return nil
        }
        return BasicIdentity(
            userID: user, displayName: object["display_name"]?.string,
            avatarURL: object["avatar_url"]?.string)
    }

    /// Reads an array of users; `nil` if it is no array or one of them is invalid.
    static func readList(_ array: JSONValue) -> [BasicIdentity]? {
        guard array.kind == .array else { return nil }
        var identities: [BasicIdentity] = []
        for element in array.elements {
            guard let identity = read(element) else { return nil }
            identities.append(identity)
        }
        return identities
    }

    /// Reads the sender of a message as 2.0 and later write it: a user, or a service with only a name.
    static func readSender(_ object: JSONValue) -> (sender: Sender, identity: BasicIdentity?)? {
        if let identity = read(object) { return (.user(identity.userID), identity) }
        guard object["user_id"]?.isNull == true, let name = object["display_name"]?.string else {
            return nil
        }
        return (.named(name), nil)
    }
}
