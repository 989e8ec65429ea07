import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /users/{u}/conversations` (platform-api §5.1.7, client-api §4.1).
    func createView(_ body: JSONValue) async throws -> Reply {
        let draft = try ConversationDraftJSON.read(
            body.asObject(), version, store.limits,
            by: .user(parameters["user"].flatMap { UserID($0) }))
        let user = try user()
        let creation = try await store.createConversation(
            draft, by: user, key: key, in: application)
        let asked = draft.proposedID ?? key.map(Conversation.ID.init)
        return reply(creation, to: user)
            .locating(creation.object.id, askedAs: asked, links(.user(user)))
    }

    private func reply(_ creation: Creation<ConversationView>, to user: UserID) -> Reply {
        let view = json(creation.object, seenBy: user)
        let location = links(.user(user)).location(ofConversation: creation.object.id)
        switch creation {
        case .created, .replayed:
            return Reply(.created, view).tagged(creation.object.version)
                .adding("Location", location)
        case .matched:
            return Reply(.ok, view).tagged(creation.object.version).adding("Location", location)
        case .conflict:
            return APIError.distinctConflict(with: view).reply(publicBase: publicBase)
        case .idInUse: return APIError.taken(byConversation: view).reply(publicBase: publicBase)
        }
    }
}
