import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /conversations/{C}/messages` (platform-api §5.2.1).
    func sendMessage(_ body: JSONValue) async throws -> Reply {
        if MessageBatchJSON.isBatch(body, version) { return try await sendBatch(body) }
        let asked = try MessageDraftJSON(body.asObject(), version)
        let conversation = try conversation()
        if let schedule = asked.schedule {
            return answer(
                try await store.scheduleMessage(
                    asked.draft, to: conversation, for: schedule, key: key, in: application),
                askedIn: conversation)
        }
        do {
            let creation = try await store.sendMessage(
                asked.draft, to: conversation, key: key, in: application)
            let message = creation.object.message
            return reply(creation).locating(message, askedIn: conversation, links)
        } catch let before as AnsweredBefore {
            return answer(.accepted(before.conversation), askedIn: conversation)
        }
    }

    func reply(_ creation: Creation<MessageSnapshot>) -> Reply {
        switch creation {
        case .created(let sent), .replayed(let sent), .matched(let sent):
            Reply(.created, json(sent, isJustSent: true)).tagged(sent.message.version).adding(
                "Location",
                version.namesIdentities
                    ? links.location(ofMessage: sent.message.id, in: sent.message.conversation)
                    : links.location(ofShortMessage: sent.message.id))
        case .idInUse(let sent), .conflict(let sent):
            APIError.taken(byMessage: json(sent)).reply(publicBase: publicBase)
        }
    }
}
