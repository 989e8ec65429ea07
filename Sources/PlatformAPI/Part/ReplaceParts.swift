import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PUT …/messages/{M}/parts/{P}` (platform-api §5.3).
    func replacePart(_ body: JSONValue) async throws -> Reply {
        try await changingParts { demand in
            // The body is judged before the name of what it replaces (platform-api §1.6).
            let draft = try MessagePartsJSON.draft(body.asObject())
            let (shown, name) = (presentation(try perspective()), try part())
            let message = try await store.changeParts(
                .replace(name, draft), of: message(), by: reach(), if: demand, in: application)
            let part = try message.part(name)
            return Reply(.ok, json(part, of: message, shown)).tagged(message.version)
                .locating(part, of: message, askedIn: try conversationIfNamed(), links, version)
        }
    }

    /// `PUT …/messages/{M}/parts`: these and no others.
    func replaceParts(_ body: JSONValue) async throws -> Reply {
        try await changingParts { demand in
            let operation = try MessagePartsJSON.all(body.asArray())
            let shown = presentation(try perspective())
            let message = try await store.changeParts(
                operation, of: message(), by: reach(), if: demand, in: application)
            return Reply(.ok, json(message.parts, of: message, shown)).tagged(message.version)
                .locating(partsOf: message, askedIn: try conversationIfNamed(), links)
        }
    }

    /// `DELETE …/messages/{M}/parts/{P}`.
    func removePart() async throws -> Reply {
        try await changingParts { demand in
            let message = try await store.changeParts(
                .remove(part()), of: message(), by: reach(), if: demand, in: application)
            return Reply.noContent.tagged(message.version)
                .locating(message, askedIn: try conversationIfNamed(), links)
        }
    }

    /// Runs a change under what `If-Match` demands of the message; who was late sees it (X4).
    private func changingParts(
        _ change: (VersionDemand) async throws -> Reply
    ) async throws -> Reply {
        try await demanding(
            { (message: MessageSnapshot) in json(message, presentation(try perspective())) },
            change: change)
    }
}
