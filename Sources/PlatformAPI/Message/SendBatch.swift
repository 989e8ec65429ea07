import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// A batch (platform-api §5.2.1): judged whole, then sent whole.
    func sendBatch(_ body: JSONValue) async throws -> Reply {
        let batch = try MessageBatchJSON.read(body, version)
        let conversation = try conversation()
        return answer(
            try await store.sendBatch(batch, to: conversation, key: key, in: application),
            askedIn: conversation)
    }

    /// What is answered without a message: 202, its time will come.
    func answer(_ acceptance: Acceptance, askedIn asked: Conversation.ID) -> Reply {
        switch acceptance {
        case .accepted(let own): Reply(.accepted).locating(own, askedAs: asked, links)
        case .replayed(let sent):
            reply(Creation.replayed(sent)).locating(sent.message, askedIn: asked, links)
        case .idInUse(let sent):
            reply(Creation.idInUse(sent)).locating(sent.message, askedIn: asked, links)
        }
    }
}
