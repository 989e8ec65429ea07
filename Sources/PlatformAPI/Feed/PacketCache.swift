import Messaging
import MessagingStore
import MessagingWire
import SystemSupport

/// The JSON of the latest packets and signals, so that what one change sends to many users is encoded once for each version.
///
/// A packet is the same for all users that see the same: the URLs of the Client API do not name the user. Packets with links
/// are not cached, because the URLs are signed and expire. Safe to use from any thread.
final class PacketCache: Sendable {
    /// What the JSON shows.
    enum Content: Equatable, Sendable {
        case change(UserChange.Operation)
        case signal(Signal)
        /// Presence as the change of an identity.
        case presence(Presence)
    }

    /// How it is shown.
    struct Form: Hashable, Sendable {
        /// The base of the URLs.
        let base: String
        let application: Application.ID
        let version: APIVersion
    }

    private struct Key: Hashable {
        let content: PacketKey
        let form: Form
    }

    private struct Cached {
        let content: Content
        let packets: [ChangeJSON]
    }

    private let state: Locked<BudgetedCache<Key, Cached>>

    init() { state = Locked(BudgetedCache(budget: 4 << 20)) }

    /// Returns the packets of a content, from the cache if another user was sent the same.
    func packets(
        of content: Content, _ form: Form, _ encode: () -> [ChangeJSON]
    ) -> [ChangeJSON] {
        guard let packetKey = PacketKey(content) else { return encode() }
        let key = Key(content: packetKey, form: form)
        let known = state.withLock { cache in cache.value(of: key) }
        if let known, known.content == content { return known.packets }
        let packets = encode()
        let size = packets.reduce(0) { size, packet in size + packet.body.count }
        state.withLock { cache in
            cache.store(
                Cached(content: content, packets: packets), under: key, weight: 2 * size + 512)
        }
        return packets
    }
}

/// What distinguishes a packet from others that are sent at the same time. Packets with the same key replace each other in the
/// cache, so it includes what differs between the users that see one change.
private struct PacketKey: Hashable {
    private enum Kind {
        case conversationCreated, conversationDeleted, participants, metadata, counts,
            messageCreated, messageStatus
        case markedAllRead, parts, messageDeleted, identityCreated, identityChanged, typing,
            presenceSignal, presence
    }

    private let kind: Kind
    /// The object.
    private let id: [UInt8]
    /// The user that acts.
    private let user: UserID?
    /// Unread messages, or whether it is the user's own change.
    private let number: Int64

    private init(_ kind: Kind, _ id: [UInt8], _ user: UserID? = nil, _ number: Int64 = 0) {
        self.kind = kind
        self.id = id
        self.user = user
        self.number = number
    }

    /// `nil` for a content that is shown to one user, or that holds links.
    init?(_ content: PacketCache.Content) {
        switch content {
        case .change(let operation):
            guard !operation.hasLinks, let key = Self.key(of: operation) else { return nil }
            self = key
        case .signal(.typing(_, by: let sender, in: let conversation)):
            self.init(.typing, conversation.bytes, sender.userID)
        case .signal(.presence(let presence)): self.init(.presenceSignal, [], presence.user)
        case .presence(let presence): self.init(.presence, [], presence.user)
        }
    }

    private static func key(of operation: UserChange.Operation) -> PacketKey? {
        switch operation {
        case .conversationCreated(let view):
            PacketKey(.conversationCreated, view.id.bytes, nil, view.unreadCount)
        case .conversationDeleted(let id, forAll: true): PacketKey(.conversationDeleted, id.bytes)
        case .participants(let id, _, _): PacketKey(.participants, id.bytes)
        case .metadata(let id, _): PacketKey(.metadata, id.bytes)
        case .counts(let id, _, let unread): PacketKey(.counts, id.bytes, nil, unread)
        case .messageCreated(let snapshot):
            PacketKey(
                .messageCreated, snapshot.message.id.bytes, nil, snapshot.isUnread == true ? 1 : 0)
        case .messageStatus(let id, of: let user, _, isOwn: let isOwn):
            PacketKey(.messageStatus, id.bytes, user, isOwn ? 1 : 0)
        case .markedAllRead(let id, _, by: let reader, _, isOwn: let isOwn):
            PacketKey(.markedAllRead, id.bytes, reader.userID, isOwn ? 1 : 0)
        case .parts(let snapshot, _):
            PacketKey(.parts, snapshot.message.id.bytes, nil, snapshot.isUnread == true ? 1 : 0)
        case .messageDeleted(let id, forAll: true): PacketKey(.messageDeleted, id.bytes)
        case .identityCreated(let identity): PacketKey(.identityCreated, [], identity.userID)
        case .identityChanged(let identity): PacketKey(.identityChanged, [], identity.userID)
        case .conversationCleared, .conversationDeleted, .messageDeleted, .messageErased,
            .announcementCreated, .announcementStatus, .announcementDeleted, .identityDeleted:
            nil
        }
    }
}
