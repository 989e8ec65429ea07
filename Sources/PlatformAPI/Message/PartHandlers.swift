import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension RequestContext {
    /// `GET …/messages/{M}/parts` (platform-api §5.3).
    func listParts() async throws -> Reply {
        let shown = presentation(try perspective())
        let message = try await store.parts(of: message(), by: reach(), in: application)
        return reading(message.version) { Reply(.ok, json(message.parts, of: message, shown)) }
            .locating(partsOf: message, askedIn: try conversationIfNamed(), links)
    }

    /// `GET …/messages/{M}/parts/{P}`.
    func readPart() async throws -> Reply {
        let (shown, name) = (presentation(try perspective()), try part())
        let message = try await store.parts(of: message(), by: reach(), in: application)
        let part = try message.part(name)
        return reading(message.version) { Reply(.ok, json(part, of: message, shown)) }
            .locating(part, of: message, askedIn: try conversationIfNamed(), links, version)
    }

    /// Whose rights the path gives: those of the user it names, or of the system.
    func reach() throws(Rejection) -> MessageScope {
        parameters["user"] == nil ? .system(try conversation()) : .user(try user())
    }

    /// Whose view the path leads to.
    func perspective() throws(Rejection) -> LinkBuilder.Perspective {
        parameters["user"] == nil ? .system : .user(try user())
    }

    func json(
        _ parts: [MessagePart], of message: Message, _ presentation: Presentation
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        MessagePartsJSON.write(parts, of: message, presentation, into: &writer)
        return writer.finish()
    }

    func json(
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

extension RequestContext {
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
        _ change: (VersionPrecondition) async throws -> Reply
    ) async throws -> Reply {
        try await demanding(
            { (message: MessageSnapshot) in json(message, presentation(try perspective())) },
            change: change)
    }
}
