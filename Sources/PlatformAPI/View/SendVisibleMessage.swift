import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /users/{u}/conversations/{C}/messages`: the user sends (platform-api §5.14).
    func sendVisibleMessage(_ body: JSONValue) async throws -> Reply {
        let draft = try MessageDraftJSON.read(body.asObject(), by: user())
        let (user, conversation) = (try user(), try conversation())
        let creation = try await store.sendMessage(
            draft, to: conversation, by: user, key: key, in: application)
        let message = creation.object.message
        return reply(creation, to: user)
            .locating(message, askedIn: conversation, links(.user(user)))
    }

    /// `DELETE /users/{u}/messages/{M}?mode=…` (platform-api §5.14, client-api §4.2).
    func deleteVisibleMessage() async throws -> Reply {
        try await demanding { (message: MessageSnapshot) in
            json(message, seenBy: try user())
        } change: { demand in
            let deletion = try DeletionQuery(query)
            try await store.deleteMessage(
                message(), forAll: deletion.isForAll, by: user(), if: demand, in: application)
            return .noContent
        }
    }

    private func reply(_ creation: Creation<MessageSnapshot>, to user: UserID) -> Reply {
        let sent = creation.object
        let shown = json(sent, seenBy: user)
        switch creation {
        case .created, .replayed, .matched:
            return Reply(.created, shown).tagged(sent.message.version).adding(
                "Location",
                links(.user(user)).location(
                    ofMessage: sent.message.id, in: sent.message.conversation))
        case .idInUse, .conflict:
            return APIError.taken(byMessage: shown).reply(publicBase: publicBase)
        }
    }
}
