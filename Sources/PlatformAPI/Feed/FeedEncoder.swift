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

    /// The JSON of each item. What several users see alike is encoded once.
    func json(_ entries: [FeedPage.Entry]) -> [[UInt8]] {
        let presentation = connection.presentation()
        return entries.map { entry in json(entry.item, presentation) }
    }

    private func json(_ item: FeedItem, _ presentation: Presentation) -> [UInt8] {
        let encode = { (item: FeedItemJSON) in
            var writer = JSONWriter(capacity: 1024)
            item.write(presentation, into: &writer)
            return writer.finish()
        }
        switch item {
        case .conversation(let id, let conversation):
            return encode(
                .conversation(
                    id,
                    conversation.map { conversation in json(conversation, presentation) }))
        case .message(let id, nil): return encode(.message(id, nil))
        case .message(let id, let snapshot?):
            return cached(snapshot, "item") { encode(.message(id, MessageJSON(snapshot))) }
        case .receipts(let id, let user, let receipts):
            return encode(.receipts(id, user, receipts))
        case .identity(let user, let identity): return encode(.identity(user, identity))
        case .announcement(let id, let view):
            return encode(
                .announcement(id, view.map { view in AnnouncementJSON(view, for: connection.user) })
            )
        }
    }

    private func json(
        _ conversation: FeedConversation, _ presentation: Presentation
    ) -> ConversationJSON {
        let view = conversation.view
        let members = cached(.conversation(view.common), "members") {
            ConversationJSON.members(of: view, presentation)
        }
        return ConversationJSON(
            view,
            ConversationJSON.FeedMembers(
                lastMessage: conversation.lastMessage, unreadCount: view.unreadCount,
                totalCount: view.totalCount, aliases: conversation.aliases, top: conversation.top,
                windowFrom: conversation.windowFrom, clearedTo: conversation.clearedTo),
            members: members)
    }

    /// The packets that report a change. What several users see alike is encoded once.
    func packets(_ operation: UserChange.Operation) -> [ChangeJSON] {
        packets(.change(operation)) {
            ChangeJSON.packets(operation, for: connection.user, connection.presentation())
        }
    }

    /// The body of a signal, for all its receivers encoded once.
    func body(_ signal: Signal) -> [UInt8] {
        packets(.signal(signal)) {
            [ChangeJSON(.change, SignalJSON.body(signal, connection.presentation()))]
        }.first?.body ?? []
    }

    /// The body of a packet that reports the presence of a user, for all its receivers encoded once.
    func body(_ presence: Presence) -> [UInt8] {
        packets(.presence(presence)) {
            [ChangeJSON(.change, ChangeJSON.presence(presence, connection.presentation()))]
        }.first?.body ?? []
    }

    private func packets(
        _ content: PacketCache.Content, _ encode: () -> [ChangeJSON]
    ) -> [ChangeJSON] {
        connection.api.packetCache.packets(
            of: content,
            PacketCache.Form(
                base: connection.base, application: connection.application,
                version: connection.version), encode)
    }

    /// The JSON of a message in a form, from the cache if it has no links that expire.
    private func cached(
        _ snapshot: MessageSnapshot, _ form: String, _ encode: () -> [UInt8]
    ) -> [UInt8] {
        snapshot.message.isInline ? cached(.message(snapshot), form, encode) : encode()
    }

    private func cached(
        _ content: FeedCache.Content, _ form: String, _ encode: () -> [UInt8]
    ) -> [UInt8] {
        let cache = connection.api.feedCache
        let form = FeedCache.Form(
            base: connection.base, application: connection.application,
            version: connection.version, name: form)
        if let json = cache.json(of: content, form) { return json }
        let json = encode()
        cache.store(json, of: content, form)
        return json
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
        EncodedEvent(data: body(signal), name: "signal")
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

/// The JSON of the latest messages and conversations of feeds, so that what one change sends to many users is encoded once.
///
/// It is the same for all users that see the same: the URLs of the Client API do not name the user. Messages with
/// contents are not cached, because their JSON holds signed URLs. Safe to use from any thread.
final class FeedCache: Sendable {
    /// What the JSON shows.
    enum Content: Equatable, Sendable {
        case message(MessageSnapshot)
        /// What all users see alike of a conversation.
        case conversation(ConversationView)
    }

    /// How it is shown.
    struct Form: Hashable, Sendable {
        /// The base of the URLs.
        let base: String
        let application: Application.ID
        let version: APIVersion
        /// Whether it is an item or a part of one.
        let name: String
    }

    private struct Key: Hashable {
        let id: [UInt8]
        let form: Form
        /// The sender sees a message as read, the others do not: two forms of most messages. A former participant sees
        /// no participants.
        let isDifferent: Bool
    }

    private struct Cached {
        let content: Content
        let json: [UInt8]
    }

    private let state: Locked<BudgetedCache<Key, Cached>>

    init() { state = Locked(BudgetedCache(budget: 4 << 20)) }

    fileprivate func json(of content: Content, _ form: Form) -> [UInt8]? {
        state.withLock { cache in
            guard let cached = cache.value(of: Self.key(content, form)), cached.content == content
            else { return nil }
            return cached.json
        }
    }

    fileprivate func store(_ json: [UInt8], of content: Content, _ form: Form) {
        state.withLock { cache in
            cache.store(
                Cached(content: content, json: json), under: Self.key(content, form),
                weight: 2 * json.count + 512)
        }
    }

    private static func key(_ content: Content, _ form: Form) -> Key {
        switch content {
        case .message(let snapshot):
            Key(
                id: snapshot.message.id.bytes, form: form,
                isDifferent: snapshot.isUnread == true)
        case .conversation(let view):
            Key(id: view.id.bytes, form: form, isDifferent: view.isFormer)
        }
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

extension ConversationView {
    /// The members that all users see alike that see the same participants.
    fileprivate var common: ConversationView {
        ConversationView(
            id: id, createdAt: createdAt, participants: participants,
            participantCount: participantCount, isDistinct: isDistinct, metadata: metadata,
            lastMessage: nil, unreadCount: 0, totalCount: 0, isFormer: isFormer, version: 0)
    }
}
