public import JSON
public import Messaging

/// What users signal to each other: typing and presence (client-api §5.7, §5.8, Y4).
public enum SignalJSON {
    /// Returns the body of a signal, as packets and event streams show it.
    public static func body(_ signal: Signal, _ presentation: Presentation) -> [UInt8] {
        let (links, version) = (presentation.links, presentation.version)
        var writer = JSONWriter()
        writer.object { writer in
            switch signal {
            case .typing(let action, let sender, let conversation):
                writer.member("type", "typing_indicator")
                writer.key("object")
                NamedObjectJSON.conversation(conversation, links).write(into: &writer)
                writer.key("data")
                writer.object { writer in
                    writer.member("action", action.rawValue)
                    if version.namesIdentities {
                        writer.key("sender")
                        BasicIdentityJSON.write(sender, version, links, into: &writer)
                    } else {
                        writer.member("user_id", sender.userID.text)
                    }
                }
            case .presence(let presence):
                writer.member("type", "presence")
                writer.key("object")
                NamedObjectJSON.identity(presence.user, links).write(into: &writer)
                writer.key("data")
                writer.object { writer in
                    writer.member("status", presence.status.rawValue)
                    writer.member(
                        "last_seen_at", presence.lastSeenAt.map { at in TimestampJSON.text(at) })
                }
            }
        }
        return writer.finish()
    }

    /// Reads what a user does: `{"action"}`.
    public static func typing(_ body: JSONValue) throws(Rejection) -> TypingAction {
        guard let action = body.present("action") else { throw .missing("action") }
        guard let known = action.string.flatMap(TypingAction.init) else {
            throw .invalid("action", .typingAction, .init(text: action.string))
        }
        return known
    }

    /// Reads the status of a user: `{"status"}`; `nil` for `auto`, which restores the last one.
    public static func presence(_ body: JSONValue) throws(Rejection) -> PresenceStatus? {
        guard let status = body.present("status") else { throw .missing("status") }
        return try presence(status: status)
    }

    /// Reads the operations of `Presence.update`, of which the last one counts.
    public static func presenceUpdate(_ body: JSONValue) throws(Rejection) -> PresenceStatus? {
        guard PatchJSON.isPatch(body), body.count > 0 else {
            throw .invalid("status", .presenceStatus)
        }
        let changes = try PatchJSON.read(body) { operation throws(Rejection) in
            guard operation.property == "status", operation.verb == .set else {
                throw .invalid("status", .presenceStatus)
            }
            return try presence(status: operation.operand())
        }
        return changes.last ?? nil
    }

    /// Reads the identities of `Presence.sync`; `nil` if a member is no identity.
    public static func identities(_ list: JSONValue) -> [UserID]? {
        UserIDJSON.list(list, .v3_0)
    }

    private static func presence(status: JSONValue) throws(Rejection) -> PresenceStatus? {
        if status.string == "auto" { return nil }
        guard let known = status.string.flatMap(PresenceStatus.init) else {
            throw .invalid("status", .presenceStatus, .init(text: status.string))
        }
        return known
    }

    /// The schema of what ``typing(_:)`` reads.
    public static let typingSchema = JSONSchema.named(
        "TypingIndicator",
        .object([.required("action", .choice(TypingAction.allCases.map(\.rawValue)))]))

    /// The schema of what ``presence(_:)`` reads.
    public static let presenceSchema = JSONSchema.named(
        "PresenceUpdate",
        .object([
            .required("status", .choice(PresenceStatus.allCases.map(\.rawValue) + ["auto"]))
        ]))
}
