public import JSON
public import Messaging

/// All that is told about a user: body and answer, the same in every version (platform-api §3.7).
public enum IdentityJSON {
    /// Reads an identity: first the display name, then the other members in the order of platform-api §3.7.
    ///
    /// - Parameters:
    ///   - body: An object; members it does not know, and its `user_id`, are ignored.
    ///   - user: Whose identity, as the path says; looked at after the body (R114).
    public static func read(
        _ body: JSONValue, of user: @autoclosure () throws(Rejection) -> UserID
    ) throws(Rejection) -> Identity {
        let texts = try Identity.Member.allCases.map { member throws(Rejection) in
            (member, try text(of: member, in: body))
        }
        let kind = try kind(in: body)
        let metadata = try metadata(in: body)
        var identity = Identity(userID: try user(), kind: kind, metadata: metadata)
        for (member, text) in texts { identity[member] = text }
        return identity
    }

    private static func text(
        of member: Identity.Member, in body: JSONValue
    ) throws(Rejection) -> String? {
        guard let value = body.present(member.rawValue) else {
            guard member != .displayName else { throw .missing(member.rawValue) }
            return nil
        }
        guard let text = value.string else { throw .invalid(member.rawValue, .identityText) }
        try member.check(text, as: member.rawValue)
        return text
    }

    private static func kind(in body: JSONValue) throws(Rejection) -> Identity.Kind {
        for name in kindNames {
            guard let value = body.present(name) else { continue }
            guard let kind = value.string.flatMap(kind) else { throw .invalid(name, .identityKind) }
            return kind
        }
        return .user
    }

    private static func metadata(in body: JSONValue) throws(Rejection) -> [String: String] {
        guard let value = body.present("metadata") else { return [:] }
        guard let metadata = metadata(value) else {
            throw .invalid("metadata", .identityMetadata)
        }
        try Identity.check(metadata, as: "metadata")
        return metadata
    }

    /// The name of today, and that of an early draft of 2.0.
    static let kindNames = ["identity_type", "type"]

    /// Reads `user` or `bot` in any case.
    static func kind(_ text: String) -> Identity.Kind? {
        Identity.Kind(rawValue: text.lowercased())
    }

    /// Reads a flat object of texts; `nil` for anything else (R49).
    static func metadata(_ value: JSONValue) -> [String: String]? {
        guard value.kind == .object else { return nil }
        var metadata: [String: String] = [:]
        for (key, value) in value.members {
            guard let text = value.string else { return nil }
            metadata[key] = text
        }
        return metadata
    }

    /// Writes an identity with every member, also those that are `null`.
    public static func write(
        _ identity: Identity, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", UserIDJSON.text(identity: identity.userID))
            writer.member("url", links.identity(identity.userID))
            writer.member("user_id", identity.userID.text)
            for member in Identity.Member.allCases {
                writer.key(member.rawValue)
                if let text = identity[member] { writer.string(text) } else { writer.null() }
            }
            writer.member("identity_type", identity.kind.rawValue)
            writer.key("metadata")
            write(identity.metadata, into: &writer)
        }
    }

    /// Writes metadata, its keys in order.
    static func write(_ metadata: [String: String], into writer: inout JSONWriter) {
        writer.object { writer in
            for (key, text) in metadata.sorted(by: { left, right in left.key < right.key }) {
                writer.key(key)
                writer.string(text)
            }
        }
    }
}
