import JSON
import Messaging

extension ConversationJSON {
    /// The object as webhooks show it, in the order they have (webhooks §4.3).
    func writeForWebhook(_ presentation: Presentation, into writer: inout JSONWriter) {
        let links = presentation.links
        let url = links.conversation(id)
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(id, in: .conversations))
            writer.member("url", url)
            writer.member("created_at", TimestampJSON.text(createdAt))
            writer.member("messages_url", "\(url)/messages")
            writer.member("distinct", isDistinct)
            writer.key("participants")
            writer.array { writer in
                for identity in participants {
                    if presentation.version.namesIdentities {
                        BasicIdentityJSON.write(
                            identity, url: links.webhookIdentity(identity.userID), into: &writer)
                    } else {
                        writer.string(identity.userID.text)
                    }
                }
            }
            writer.key("metadata")
            MetadataJSON.write(metadata.inMemberOrder, into: &writer)
        }
    }
}
