import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension RequestContext {
    /// `GET …/messages/{M}/parts` (platform-api §5.3).
    func listParts() async throws -> Reply {
        let presentation = presentation(try perspective())
        let message = try await store.parts(
            of: message(), in: conversationIfNamed(), by: perspective(), in: application)
        return conditionalReply(message.version) {
            Reply(.ok, json(message.parts, of: message, presentation))
        }
        .addingContentLocation(partsOf: message, requestedIn: try conversationIfNamed(), links)
    }

    /// `GET …/messages/{M}/parts/{P}`.
    func readPart() async throws -> Reply {
        let (presentation, name) = (presentation(try perspective()), try part())
        let message = try await store.parts(
            of: message(), in: conversationIfNamed(), by: perspective(), in: application)
        let part = try message.part(name)
        return conditionalReply(message.version) {
            Reply(.ok, json(part, of: message, presentation))
        }
        .addingContentLocation(
            part, of: message, requestedIn: try conversationIfNamed(), links, version)
    }

    private func json(
        _ parts: [MessagePart], of message: Message, _ presentation: Presentation
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        MessagePartsJSON.write(parts, of: message, presentation, into: &writer)
        return writer.finish()
    }

    private func json(
        _ part: MessagePart, of message: Message, _ presentation: Presentation
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        MessagePartsJSON.write(part, of: message, presentation, into: &writer)
        return writer.finish()
    }
}

extension RequestContext {
    /// `POST …/messages/{M}/parts` (platform-api §5.3).
    func addPart(_ body: JSONValue) async throws -> Reply {
        let draft = try MessagePartsJSON.draftToAdd(body.asObject())
        let presentation = presentation(try perspective())
        switch try await store.addPart(
            draft, to: message(), in: conversationIfNamed(), by: perspective(), in: application)
        {
        case .created(let added), .replayed(let added), .matched(let added):
            return Reply(.created, json(added.part, of: added.message, presentation))
                .addingETag(added.message.version)
                .adding(
                    "Location",
                    presentation.links.location(ofPart: added.part, of: added.message, version)
                )
                .addingContentLocation(
                    added.part, of: added.message, requestedIn: try conversationIfNamed(), links,
                    version)
        case .idInUse(let existing), .conflict(let existing):
            return APIError(
                .idInUse, "The requested MessagePart already exists",
                data: .object(json(existing.part, of: existing.message, presentation))
            ).reply(publicBase: publicBase)
        }
    }
}

extension RequestContext {
    /// `PUT …/messages/{M}/parts/{P}` (platform-api §5.3).
    func replacePart(_ body: JSONValue) async throws -> Reply {
        try await changingParts { precondition in
            // The body is validated before the name of the part (platform-api §1.6).
            let draft = try MessagePartsJSON.draft(body.asObject())
            let (presentation, name) = (presentation(try perspective()), try part())
            let message = try await store.changeParts(
                .replace(name, draft), of: message(), in: conversationIfNamed(), by: perspective(),
                if: precondition, in: application
            )
            let part = try message.part(name)
            return Reply(.ok, json(part, of: message, presentation)).addingETag(message.version)
                .addingContentLocation(
                    part, of: message, requestedIn: try conversationIfNamed(), links, version)
        }
    }

    /// `PUT …/messages/{M}/parts`: replaces all parts.
    func replaceParts(_ body: JSONValue) async throws -> Reply {
        try await changingParts { precondition in
            let operation = try MessagePartsJSON.all(body.asArray())
            let presentation = presentation(try perspective())
            let message = try await store.changeParts(
                operation, of: message(), in: conversationIfNamed(), by: perspective(),
                if: precondition, in: application)
            return Reply(.ok, json(message.parts, of: message, presentation)).addingETag(
                message.version
            )
            .addingContentLocation(partsOf: message, requestedIn: try conversationIfNamed(), links)
        }
    }

    /// `DELETE …/messages/{M}/parts/{P}`.
    func removePart() async throws -> Reply {
        try await changingParts { precondition in
            let message = try await store.changeParts(
                .remove(part()), of: message(), in: conversationIfNamed(), by: perspective(),
                if: precondition, in: application)
            return Reply.noContent.addingETag(message.version)
                .addingContentLocation(message, requestedIn: try conversationIfNamed(), links)
        }
    }

    /// Runs a change under the condition in `If-Match`; the 412 shows the message (X4).
    private func changingParts(
        _ change: (VersionPrecondition) async throws -> Reply
    ) async throws -> Reply {
        try await withPrecondition(
            { (message: MessageSnapshot) in json(message, presentation(try perspective())) },
            change: change)
    }
}
