import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST …/messages/{M}/parts` (platform-api §5.3).
    func addPart(_ body: JSONValue) async throws -> Reply {
        let draft = try MessagePartsJSON.draftToAdd(body.asObject())
        let asked = try conversation()
        switch try await store.addPart(draft, to: message(), in: asked, in: application) {
        case .created(let made), .replayed(let made), .matched(let made):
            return Reply(.created, json(made.part, of: made.message))
                .tagged(made.message.version)
                .adding("Location", links.location(ofPart: made.part, of: made.message, version))
                .locating(made.part, of: made.message, askedIn: asked, links, version)
        case .idInUse(let holder), .conflict(let holder):
            return APIError(
                .idInUse, "The requested MessagePart already exists",
                data: .object(json(holder.part, of: holder.message))
            ).reply
        }
    }
}
