import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST …/messages/{M}/parts` (platform-api §5.3).
    func addPart(_ body: JSONValue) async throws -> Reply {
        let draft = try MessagePartsJSON.draftToAdd(body.asObject())
        let shown = presentation(try perspective())
        switch try await store.addPart(draft, to: message(), by: reach(), in: application) {
        case .created(let made), .replayed(let made), .matched(let made):
            return Reply(.created, json(made.part, of: made.message, shown))
                .tagged(made.message.version)
                .adding(
                    "Location", shown.links.location(ofPart: made.part, of: made.message, version)
                )
                .locating(
                    made.part, of: made.message, askedIn: try conversationIfNamed(), links, version)
        case .idInUse(let holder), .conflict(let holder):
            return APIError(
                .idInUse, "The requested MessagePart already exists",
                data: .object(json(holder.part, of: holder.message, shown))
            ).reply(publicBase: publicBase)
        }
    }
}
