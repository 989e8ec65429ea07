import HTTP
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// An answer with a page of a list: how many items there are in all, and where the next page
    /// starts, if there is one (platform-api §1.10, X5).
    ///
    /// A page ends early when its items are large (`Page.isCut`); the next one goes on after it.
    ///
    /// - Parameters:
    ///   - json: The items that are shown.
    ///   - found: What was asked for: one item more than a page has.
    ///   - size: How many a page has.
    ///   - id: What `from_id` calls an item.
    func listing<Item>(
        _ json: [UInt8], of found: Page<Item>, size: Int, id: (Item) -> String
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
