import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /conversations/{C}/messages` (platform-api §5.2.1).
    func sendMessage(_ body: JSONValue) async throws -> Reply {
        let asked = try MessageDraftJSON(body.asObject(), version)
        guard asked.schedule == nil else {
            throw APIError(.invalidOperation, "Messages cannot be scheduled on this server yet.")
        }
        let conversation = try conversation()
        let creation = try await store.sendMessage(
            asked.draft, to: conversation, key: key, in: application)
        let message = creation.object.message
        return reply(creation).locating(message, askedIn: conversation, links)
    }

    private func reply(_ creation: Creation<MessageSnapshot>) -> Reply {
        switch creation {
        case .created(let sent), .replayed(let sent), .matched(let sent):
            Reply(.created, json(sent, isJustSent: true)).tagged(sent.message.version).adding(
                "Location",
                version.namesIdentities
                    ? links.location(ofMessage: sent.message.id, in: sent.message.conversation)
                    : links.location(ofShortMessage: sent.message.id))
        case .idInUse(let sent), .conflict(let sent):
            APIError.taken(byMessage: json(sent)).reply
        }
    }
}
