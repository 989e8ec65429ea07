import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PUT …/messages/{M}/parts/{P}` (platform-api §5.3).
    func replacePart(_ body: JSONValue) async throws -> Reply {
        try await demanding { (message: MessageSnapshot) in
            json(message)
        } change: { demand in
            // The body is judged before the name of what it replaces (§1.6).
            let draft = try MessagePartsJSON.draft(body.asObject())
            let (asked, id, name) = (try conversation(), try message(), try part())
            let message = try await store.changeParts(
                .replace(name, draft), of: id, in: asked, if: demand, in: application)
            let part = try message.part(name)
            return Reply(.ok, json(part, of: message)).tagged(message.version)
                .locating(part, of: message, askedIn: asked, links, version)
        }
    }

    /// `PUT …/messages/{M}/parts`: these and no others.
    func replaceParts(_ body: JSONValue) async throws -> Reply {
        try await demanding { (message: MessageSnapshot) in
            json(message)
        } change: { demand in
            let operation = try MessagePartsJSON.all(body.asArray())
            let (asked, id) = (try conversation(), try message())
            let message = try await store.changeParts(
                operation, of: id, in: asked, if: demand, in: application)
            return Reply(.ok, json(message.parts, of: message)).tagged(message.version)
                .locating(message, askedIn: asked, links)
        }
    }

    /// `DELETE …/messages/{M}/parts/{P}`.
    func removePart() async throws -> Reply {
        try await demanding { (message: MessageSnapshot) in
            json(message)
        } change: { demand in
            let (asked, id, name) = (try conversation(), try message(), try part())
            let message = try await store.changeParts(
                .remove(name), of: id, in: asked, if: demand, in: application)
            return Reply.noContent.tagged(message.version)
                .locating(message, askedIn: asked, links)
        }
    }
}
