public import Messaging
import SQL

/// A message of a list.
///
/// Not generic over what is cached: the functions below would run unspecialised, because another module calls them.
public enum ListedMessage: Sendable {
    /// A message that was not read, with the JSON that the caller has cached of it.
    case cached(Message.ID, [UInt8])
    /// A message that was read; the validity is `nil` if it must not be cached.
    case read(MessageSnapshot, CacheValidity?)

    /// The id of the message.
    public var id: Message.ID {
        switch self {
        case .cached(let id, _): id
        case .read(let snapshot, _): snapshot.message.id
        }
    }
}

extension MessagingStore {
    /// A page of a conversation's messages, newest first. Only messages that the caller has not cached are read.
    ///
    /// The page is one consistent state of the database, cached messages included.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    ///   - cached: Returns for each id the cached value that is valid at the moment, or `nil`; called on the thread of a
    ///     reader connection.
    /// - Throws: `Rejection.notFound` of the conversation, of the user, or of an `after` that is not in the
    ///   list; `objectDeleted`.
    public func messages(
        in conversation: Conversation.ID, seenBy perspective: Perspective,
        after: Message.ID? = nil, limit: Int, in application: Application.ID,
        cached: @escaping @Sendable ([Message.ID], CacheMoment) -> [[UInt8]?]
    ) async throws -> ListPage<ListedMessage> {
        // The time is taken before the read: a commit in between then counts as later, whether the read saw it or not.
        let earlier = clock.moment
        return try await database.read { [clock] transaction in
            try transaction.queryView(of: conversation, seenBy: perspective, in: application)
            let moment = try transaction.moment(of: clock, from: earlier, in: application)
            let (view, total) = try transaction.view(
                of: conversation, seenBy: perspective, in: application)
            let position = try after.map { after in try transaction.position(of: after, in: view) }
            let heads = try transaction.rows(
                view.rows(of: MessageHead.columns, before: position, limit: limit + 1)
            ) { row in try MessageHead(row) }
            let page = BoundedPage(Array(heads.prefix(limit)), weight: \.weight)
            let items = try transaction.listed(
                page.items, in: view, seenBy: perspective,
                cached: cached(page.items.map(\.id), moment), moment)
            return ListPage(
                items: items, total: try total.first() ?? 0, in: view.conversation,
                isCut: items.count < heads.count)
        }
    }
}

/// The columns of a row of `messages` that determine which messages a page has.
private struct MessageHead {
    let id: Message.ID
    let position: Position
    let weight: Int64

    static let columns: StaticString = "id, position, weight"

    init(_ row: borrowing Row) throws {
        id = try row.id(0)
        position = try row.position(1)
        weight = try row.int64(2)
    }
}

extension Transaction {
    /// Sends the queries of a view without waiting for their rows.
    fileprivate func queryView(
        of conversation: Conversation.ID, seenBy perspective: Perspective,
        in application: Application.ID
    ) throws {
        switch perspective {
        case .system: _ = try queryLocked(conversation, in: application)
        case .user(let user):
            _ = try queryIdentity(of: user, in: application)
            _ = try queryWinner(of: conversation, in: application)
            _ = try queryParticipant(user, in: conversation, in: application)
        }
    }

    /// A conversation's messages as the system or a user sees them, and their number.
    func view(
        of conversation: Conversation.ID, seenBy perspective: Perspective,
        in application: Application.ID
    ) throws -> (MessageView, total: DeferredRows<Int64>) {
        switch perspective {
        case .system:
            let (conversation, view) = try view(of: conversation, in: application)
            return (view, DeferredRows([conversation.messageCount]))
        case .user(let user):
            let (_, view) = try view(of: conversation, seenBy: user, in: application)
            return (view, try queryMessageCount(of: user, in: view.conversation, in: application))
        }
    }

    /// Reads the messages of a page that are not cached, and returns all in order.
    fileprivate func listed(
        _ heads: [MessageHead], in view: MessageView, seenBy perspective: Perspective,
        cached: [[UInt8]?], _ moment: CacheMoment
    ) throws -> [ListedMessage] {
        var missing: [Position] = []
        for (head, json) in zip(heads, cached) where json == nil { missing.append(head.position) }
        var read = try snapshots(
            of: messages(at: missing, in: view.conversation, in: view.application),
            seenBy: perspective, in: view.application)[...]
        var listed: [ListedMessage] = []
        listed.reserveCapacity(heads.count)
        for (head, json) in zip(heads, cached) {
            if let json {
                listed.append(.cached(head.id, json))
                continue
            }
            guard let snapshot = read.popFirst(), snapshot.message.id == head.id else {
                throw StoreFault.unreadable("message of a page")
            }
            listed.append(
                .read(snapshot, moment.validity(of: snapshot.message, seenBy: perspective)))
        }
        return listed
    }
}
