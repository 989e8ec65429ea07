import JSON
import Messaging

/// An object that a packet or a signal names: `{"type","id","url"}` (client-api §5.4, §5.7).
struct NamedObjectJSON {
    let type: StaticString
    let id: String
    let url: String

    static func conversation(_ id: Conversation.ID, _ links: LinkBuilder) -> NamedObjectJSON {
        NamedObjectJSON(
            type: "Conversation", id: IdentifierJSON.text(id, in: .conversations),
            url: links.conversation(id))
    }

    static func identity(_ user: UserID, _ links: LinkBuilder) -> NamedObjectJSON {
        NamedObjectJSON(
            type: "Identity", id: UserIDJSON.text(identity: user), url: links.identity(user))
    }

    func write(into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", type.description)
            writer.member("id", id)
            writer.member("url", url)
        }
    }
}
