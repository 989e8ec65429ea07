import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import SystemSupport

/// Encodes the items of a user's feed.
struct FeedEncoder: Sendable {
    private let connection: UserConnection

    init(_ connection: UserConnection) { self.connection = connection }

    /// The JSON of each item. A message that several users see alike is encoded once.
    func json(_ entries: [FeedPage.Entry]) -> [[UInt8]] {
        let presentation = connection.presentation()
        return entries.map { entry in json(entry.item, presentation) }
    }

    private func json(_ item: FeedItem, _ presentation: Presentation) -> [UInt8] {
        guard case .message(_, let snapshot?) = item else { return encode(item, presentation) }
        return cached(snapshot, "item") { encode(item, presentation) }
    }

    /// The packets that tell of a change. A message that several users see alike is encoded once.
    func packets(_ operation: UserChange.Operation) -> [ChangeJSON] {
        let encode = {
            ChangeJSON.packets(operation, for: connection.user, connection.presentation())
        }
        guard case .messageCreated(let snapshot) = operation else { return encode() }
        let form = "packet \(connection.version.rawValue)"
        let body = cached(snapshot, form) { encode().first?.body ?? [] }
        return [ChangeJSON(.change, body)]
    }

    /// The JSON of a message in a form, from the cache if it has no links that expire.
    private func cached(
        _ snapshot: MessageSnapshot, _ form: String, _ encode: () -> [UInt8]
    ) -> [UInt8] {
        guard snapshot.message.isInline else { return encode() }
        let cache = connection.api.feedCache
        let form = "\(connection.base) \(connection.application.uuid) \(form)"
        if let json = cache.json(of: snapshot, form) { return json }
        let json = encode()
        cache.store(json, of: snapshot, form)
        return json
    }

    private func encode(_ item: FeedItem, _ presentation: Presentation) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        FeedItemJSON(item, for: connection.user).write(presentation, into: &writer)
        return writer.finish()
    }

    /// The events of a page, of which the last one has the cursor of the page.
    func events(_ page: FeedPage) -> [EncodedEvent] {
        var events: [EncodedEvent?] = []
        if let reset = page.reset {
            events.append(EncodedEvent(data: "{}", name: "reset", id: Self.id(reset)))
        }
        let cursors = page.entries.dropLast().map(\.cursor) + [page.cursor]
        for (json, cursor) in zip(json(page.entries), cursors) {
            events.append(EncodedEvent(data: json, name: "item", id: Self.id(cursor)))
        }
        return events.compactMap(\.self)
    }

    /// The event of a signal, which has no id (ruling 42).
    func event(_ signal: Signal) -> EncodedEvent? {
        EncodedEvent(data: SignalJSON.body(signal, connection.presentation()), name: "signal")
    }

    /// The event that tells a client that it has everything.
    static func ready(at cursor: FeedCursor) -> EncodedEvent? {
        EncodedEvent(data: "{}", name: "ready", id: id(cursor))
    }

    /// The cursor as the id of an event; `nil` for one that is longer than ids may be (H154), so that a client continues
    /// after the event before.
    private static func id(_ cursor: FeedCursor) -> String? {
        let text = cursor.text
        return text.utf8.count <= 256 ? text : nil
    }
}

/// The JSON of the latest messages of feeds, so that what one change sends to many users is encoded once.
///
/// It is the same for all users that see the same: the URLs of the Client API do not name the user. Messages with
/// contents are not cached, because their JSON holds signed URLs. Safe to use from any thread.
final class FeedCache: Sendable {
    private struct Key: Hashable {
        let message: Message.ID
        /// The base of the URLs, and whether it is an item or a packet.
        let form: String
        /// The sender sees a message as read, the others do not: two forms of most messages.
        let isUnread: Bool?
    }

    private struct Cached {
        let snapshot: MessageSnapshot
        let json: [UInt8]
    }

    private let state: Locked<BudgetedCache<Key, Cached>>

    init() { state = Locked(BudgetedCache(budget: 4 << 20)) }

    fileprivate func json(of snapshot: MessageSnapshot, _ form: String) -> [UInt8]? {
        state.withLock { cache in
            guard let cached = cache.value(of: Self.key(snapshot, form)),
                cached.snapshot == snapshot
            else { return nil }
            return cached.json
        }
    }

    fileprivate func store(_ json: [UInt8], of snapshot: MessageSnapshot, _ form: String) {
        state.withLock { cache in
            cache.store(
                Cached(snapshot: snapshot, json: json), under: Self.key(snapshot, form),
                weight: 2 * json.count + 512)
        }
    }

    private static func key(_ snapshot: MessageSnapshot, _ form: String) -> Key {
        Key(message: snapshot.message.id, form: form, isUnread: snapshot.isUnread)
    }
}

extension UserChange.Operation {
    /// Whether its packet holds links that are secrets.
    var hasLinks: Bool {
        switch self {
        case .messageCreated(let snapshot), .parts(let snapshot, _): !snapshot.message.isInline
        case .conversationCreated(let view): view.lastMessage?.message.isInline == false
        default: false
        }
    }
}

extension Message {
    /// Whether no part attaches a content.
    fileprivate var isInline: Bool {
        parts.allSatisfy { part in
            if case .inline = part.body { true } else { false }
        }
    }
}

extension FeedItemJSON {
    /// An item as the store has read it.
    fileprivate init(_ item: FeedItem, for user: UserID) {
        self =
            switch item {
            case .conversation(let id, let conversation):
                .conversation(
                    id,
                    conversation.map { conversation in
                        ConversationJSON(
                            conversation.view,
                            ConversationJSON.FeedMembers(
                                lastMessage: conversation.lastMessage,
                                unreadCount: conversation.view.unreadCount,
                                totalCount: conversation.view.totalCount,
                                aliases: conversation.aliases, top: conversation.top,
                                windowFrom: conversation.windowFrom,
                                clearedTo: conversation.clearedTo))
                    })
            case .message(let id, let snapshot):
                .message(id, snapshot.map { snapshot in MessageJSON(snapshot) })
            case .receipts(let id, let user, let receipts): .receipts(id, user, receipts)
            case .identity(let user, let identity): .identity(user, identity)
            case .announcement(let id, let view):
                .announcement(id, view.map { view in AnnouncementJSON(view, for: user) })
            }
    }
}
