import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /conversations` (platform-api §5.1.1).
    func createConversation(_ body: JSONValue) async throws -> Reply {
        let draft = try ConversationDraftJSON.read(body.asObject(), version, store.limits)
        let creation = try await store.createConversation(draft, key: key, in: application)
        let made = creation.object
        let asked = draft.proposedID ?? key.map(Conversation.ID.init)
        return reply(creation).locating(made.conversation.id, askedAs: asked, links)
    }

    private func reply(_ creation: Creation<ConversationSnapshot>) -> Reply {
        switch creation {
        case .created(let conversation), .replayed(let conversation):
            located(.created, conversation)
        case .matched(let conversation):
            located(.ok, conversation)
        case .conflict(let conversation):
            APIError.distinctConflict(with: json(conversation)).reply(publicBase: publicBase)
        case .idInUse(let conversation):
            APIError.taken(byConversation: json(conversation)).reply(publicBase: publicBase)
        }
    }

    private func located(_ status: Status, _ conversation: ConversationSnapshot) -> Reply {
        Reply(status, json(conversation)).tagged(conversation.conversation.version).adding(
            "Location", links.location(ofConversation: conversation.conversation.id))
    }
}
