import HTTP
import Messaging
import MessagingStore
import MessagingWire

/// A handler's answer, before the headers that every answer has.
struct Reply: Sendable {
    let status: Status
    /// The JSON; `none` without a body.
    private let content: HTTP.Content
    /// The whole response of an answer that is produced over time; `nil` for other answers.
    private let streamed: Response?
    private(set) var fields = ResponseFields()
    /// Whether the headers name the version already: those of a replayed answer do.
    private(set) var namesVersion = false

    /// An answer with a JSON body.
    init(_ status: Status, _ json: [UInt8]) {
        self.status = status
        content = .bytes(json)
        streamed = nil
    }

    /// An answer with a JSON array of encoded elements, which are sent without copying them.
    init(_ status: Status, arrayOf elements: [[UInt8]]) {
        self.status = status
        let (comma, opening, closing) = (Array(",".utf8), Array("[".utf8), Array("]".utf8))
        var pieces = [opening]
        pieces.reserveCapacity(2 * elements.count + 2)
        for element in elements {
            if pieces.count > 1 { pieces.append(comma) }
            pieces.append(element)
        }
        pieces.append(closing)
        content = .pieces(pieces)
        streamed = nil
    }

    /// An answer that is a stream of events.
    init(_ stream: EventStream) {
        status = .ok
        content = .none
        streamed = stream.response
    }

    /// An answer that is a whole response: the change to another protocol, or the refusal of it.
    init(_ response: Response) {
        status = response.status
        content = .none
        streamed = response
    }

    /// An answer whose content is written in pieces.
    init(_ content: HTTP.Content, _ type: String) {
        status = .ok
        self.content = .none
        var response = Response(.ok, content: content)
        response.fields.add("Content-Type", type)
        response.fields.add("Cache-Control", "no-store")
        streamed = response
    }

    /// 204, whose body must be empty (platform-api §8).
    static let noContent = Reply(.noContent)

    /// An answer without a body.
    init(_ status: Status) {
        self.status = status
        content = .none
        streamed = nil
    }

    /// A replayed answer.
    init(_ status: Status, _ json: [UInt8]?, fields: ResponseFields) {
        self.status = status
        content = json.map(HTTP.Content.bytes) ?? .none
        self.fields = fields
        namesVersion = true
        streamed = nil
    }

    /// Returns this reply with another header.
    func adding(_ name: FieldName, _ value: String) -> Reply {
        var reply = self
        reply.fields.add(name, value)
        return reply
    }

    /// The response, with the headers that every answer has (H97).
    var response: Response {
        if let streamed { return streamed }
        var response = Response(status, fields: fields)
        response.fields.add("Cache-Control", "no-store")
        if hasContent {
            response.fields.add("Content-Type", "application/json; charset=UTF-8")
            response.content = content
        }
        return response
    }

    private var hasContent: Bool {
        if case .none = content { false } else { true }
    }

    /// The JSON of the answer; `nil` without a body.
    var json: [UInt8]? { hasContent ? content.joinedBytes : nil }
}

extension RequestContext {
    /// Returns an answer with a page of a list, the number of all items, and the URL of the next page, if there is one
    /// (platform-api §1.10, X5).
    ///
    /// A page ends early when its items are large (`ListPage.isCut`); the next page continues after it.
    ///
    /// - Parameters:
    ///   - json: The items of the page.
    ///   - found: The items read; more follow if they are more than `size`, or if `isCut` is set.
    ///   - size: The most items of the page.
    ///   - id: The id of an item in `from_id`.
    func listing<Item>(
        _ json: [UInt8], of found: ListPage<Item>, size: Int, id: (Item) -> String
    ) throws -> Reply {
        try listing(Reply(.ok, json), of: found, size: size, id: id)
    }

    /// Adds the number of all items and the URL of the next page to an answer with a page of a list. The next page of a
    /// search that ended early begins after the last item that it examined.
    func listing<Item>(
        _ reply: Reply, of found: ListPage<Item>, size: Int, id: (Item) -> String
    ) throws -> Reply {
        var reply = reply
        if query.isCounted, let total = found.total {
            reply = reply.adding("Layer-Count", String(total))
        }
        let start: String
        if found.isCut || found.items.count > size, let last = found.items.prefix(size).last {
            start = id(last)
        } else if let searchedTo = found.searchedTo {
            start = searchedTo
            reply = reply.adding(
                "Parley-Scan", "partial; next=\(URIComponent.encoded(searchedTo))")
        } else {
            return reply
        }
        let path = try listPath(in: found.conversation)
        return reply.adding(
            "Link", "<\(links.list(path, query.starting(after: start)))>; rel=\"next\"")
    }

    /// The path of the list below `/apps/{app}`, or from the root on the Client API, without a slash at its end.
    ///
    /// - Parameter winner: The conversation of the list, which the path may name by an alias (X1.2).
    func listPath(in winner: Conversation.ID?) throws -> [String] {
        var path = try request.target.segments().dropFirst(caller.user == nil ? 2 : 0).filter {
            !$0.isEmpty
        }
        if let winner, let index = path.lastIndex(of: "conversations") {
            path[index + 1] = winner.uuid
        }
        return path
    }
}

extension Reply {
    /// Adds the conversation's URL as `Content-Location` if the request named it by an alias (X1.2, ruling 13).
    func addingContentLocation(
        _ conversation: Conversation.ID, requestedAs requestedID: Conversation.ID?,
        _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, requestedIn: requestedID) {
            links.location(ofConversation: conversation)
        }
    }

    /// The same for a message.
    func addingContentLocation(
        _ message: Message, requestedIn requestedID: Conversation.ID?, _ links: LinkBuilder
    ) -> Reply {
        addingContentLocation(message.id, in: message.conversation, requestedIn: requestedID, links)
    }

    /// The same for a message given by its id.
    func addingContentLocation(
        _ message: Message.ID, in conversation: Conversation.ID,
        requestedIn requestedID: Conversation.ID?,
        _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, requestedIn: requestedID) {
            links.location(ofMessage: message, in: conversation)
        }
    }

    /// The same for all parts of a message.
    func addingContentLocation(
        partsOf message: Message, requestedIn requestedID: Conversation.ID?, _ links: LinkBuilder
    ) -> Reply {
        located(in: message.conversation, requestedIn: requestedID) {
            links.location(ofPartsOf: message)
        }
    }

    /// The same for a part of a message.
    func addingContentLocation(
        _ part: MessagePart, of message: Message, requestedIn requestedID: Conversation.ID?,
        _ links: LinkBuilder, _ version: APIVersion
    ) -> Reply {
        located(in: message.conversation, requestedIn: requestedID) {
            links.location(ofPart: part, of: message, version)
        }
    }

    /// The same for a content.
    func addingContentLocation(
        _ content: Messaging.Content.ID, in conversation: Conversation.ID,
        requestedIn requestedID: Conversation.ID, _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, requestedIn: requestedID) {
            links.location(ofContent: content, in: conversation)
        }
    }

    /// - Parameter requestedID: `nil` where the path names no conversation.
    private func located(
        in conversation: Conversation.ID, requestedIn requestedID: Conversation.ID?,
        _ location: () -> String
    ) -> Reply {
        guard let requestedID, requestedID != conversation else { return self }
        return adding("Content-Location", location())
    }
}
