import JSON
import Messaging

extension BasicIdentityJSON {
    /// Who sent or did something; the URLs of identities are others here than in answers (webhooks
    /// §4.1).
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
