import HTTP
import Messaging
import MessagingStore
import MessagingWire

/// What a handler answers, before the fields every answer carries.
struct Reply: Sendable {
    let status: Status
    let json: [UInt8]?
    /// An answer whose content comes as time goes by.
    private let streamed: Response?
    private(set) var fields = ResponseFields()
    /// Whether the headers name the version: those of an answer given before do.
    private(set) var namesVersion = false

    /// An answer with a JSON body.
    init(_ status: Status, _ json: [UInt8]) {
        self.status = status
        self.json = json
        streamed = nil
    }

    /// An answer that goes on as a stream.
    init(_ stream: EventStream) {
        status = .ok
        json = nil
        streamed = stream.response
    }

    /// An answer whose content is written bit by bit.
    init(_ content: HTTP.Content, _ type: String) {
        status = .ok
        json = nil
        var response = Response(.ok, content: content)
        response.fields.add("Content-Type", type)
        response.fields.add("Cache-Control", "no-store")
        streamed = response
    }

    /// An answer whose body must be truly empty (platform-api §8).
    static let noContent = Reply(.noContent)

    /// An answer without a body.
    init(_ status: Status) {
        self.status = status
        json = nil
        streamed = nil
    }

    /// An answer given before.
    init(_ status: Status, _ json: [UInt8]?, fields: ResponseFields) {
        self.status = status
        self.json = json
        self.fields = fields
        namesVersion = true
        streamed = nil
    }

    /// The same with another field.
    func adding(_ name: FieldName, _ value: String) -> Reply {
        var reply = self
        reply.fields.add(name, value)
        return reply
    }

    /// The response, with the fields every answer carries (H97).
    var response: Response {
        if let streamed { return streamed }
        var response = Response(status, fields: fields)
        response.fields.add("Cache-Control", "no-store")
        if let json {
            response.fields.add("Content-Type", "application/json; charset=UTF-8")
            response.content = .bytes(json)
        }
        return response
    }
}

extension RequestContext {
    /// An answer with a page of a list: how many items there are in all, and where the next page
    /// starts, if there is one (platform-api §1.10, X5).
    ///
    /// A page ends early when its items are large (`ListPage.isCut`); the next one goes on after it.
    ///
    /// - Parameters:
    ///   - json: The items that are shown.
    ///   - found: What was asked for: one item more than a page has.
    ///   - size: How many a page has.
    ///   - id: What `from_id` calls an item.
    func listing<Item>(
        _ json: [UInt8], of found: ListPage<Item>, size: Int, id: (Item) -> String
    ) throws -> Reply {
        let reply = Reply(.ok, json).adding("Layer-Count", String(found.total))
        guard found.isCut || found.items.count > size, let last = found.items.prefix(size).last
        else { return reply }
        let query = query.starting(after: id(last))
        let path = try listPath(in: found.conversation)
        return reply.adding("Link", "<\(links.list(path, query))>; rel=\"next\"")
    }

    /// Where the list is: behind `/apps/{app}`, and not with a slash at its end.
    ///
    /// - Parameter winner: The conversation it is of, which the path may name by an alias (X1.2).
    func listPath(in winner: Conversation.ID?) throws -> [String] {
        var path = try request.target.segments().dropFirst(2).filter { !$0.isEmpty }
        if let winner, let place = path.lastIndex(of: "conversations") {
            path[place + 1] = winner.uuid
        }
        return path
    }
}

extension Reply {
    /// Names the winner in `Content-Location` when another id was asked for (X1.2, ruling 13).
    func locating(
        _ conversation: Conversation.ID, askedAs asked: Conversation.ID?, _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, askedIn: asked) { links.location(ofConversation: conversation) }
    }

    /// The same for a message, which is where its conversation is.
    func locating(
        _ message: Message, askedIn asked: Conversation.ID?, _ links: LinkBuilder
    ) -> Reply {
        locating(message.id, in: message.conversation, askedIn: asked, links)
    }

    /// The same for one that is no more.
    func locating(
        _ message: Message.ID, in conversation: Conversation.ID, askedIn asked: Conversation.ID?,
        _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, askedIn: asked) {
            links.location(ofMessage: message, in: conversation)
        }
    }

    /// The same for its parts, all of them.
    func locating(
        partsOf message: Message, askedIn asked: Conversation.ID?, _ links: LinkBuilder
    ) -> Reply {
        located(in: message.conversation, askedIn: asked) { links.location(ofPartsOf: message) }
    }

    /// The same for a part, which is where its message is.
    func locating(
        _ part: MessagePart, of message: Message, askedIn asked: Conversation.ID?,
        _ links: LinkBuilder, _ version: APIVersion
    ) -> Reply {
        located(in: message.conversation, askedIn: asked) {
            links.location(ofPart: part, of: message, version)
        }
    }

    /// The same for a content, which is where its conversation is.
    func locating(
        _ content: Messaging.Content.ID, in conversation: Conversation.ID,
        askedIn asked: Conversation.ID, _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, askedIn: asked) {
            links.location(ofContent: content, in: conversation)
        }
    }

    /// - Parameter asked: `nil` where the path names no conversation.
    private func located(
        in conversation: Conversation.ID, askedIn asked: Conversation.ID?, _ place: () -> String
    ) -> Reply {
        guard let asked, asked != conversation else { return self }
        return adding("Content-Location", place())
    }
}
