import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// A client of a feed: it has what it received, and follows the rules that a client must follow (Y1).
struct FeedDevice {
    let user: UserID
    private(set) var cursor: FeedCursor?
    private(set) var conversations: [Conversation.ID: FeedConversation] = [:]
    /// The positions of each conversation of which no message is missing.
    private(set) var held: [Conversation.ID: IntervalSet] = [:]
    /// The windows that the latest items have named; they are complete when the device is ready.
    private var windows: [Conversation.ID: IntervalSet] = [:]
    private(set) var messages: [Message.ID: MessageSnapshot] = [:]
    private(set) var receipts: [ReceiptOwner: Receipts] = [:]
    private(set) var identities: [UserID: Identity] = [:]
    private(set) var announcements: [Announcement.ID: AnnouncementView] = [:]
    /// What a snapshot has named so far; `nil` outside of a snapshot.
    private var named: Set<String>?
    /// Whether the device has everything up to the end of its last answer.
    private(set) var isReady = false
    /// The objects received since it was last ready.
    private(set) var received: [String] = []

    init(of user: UserID) { self.user = user }

    /// Takes the first entries of a page, and its end if these are all.
    mutating func apply(_ page: FeedPage, count: Int = .max) {
        if isReady { received = [] }
        isReady = false
        if page.isReset {
            named = []
            windows = [:]
        }
        for entry in page.entries.prefix(count) { apply(entry.item) }
        guard count >= page.entries.count else {
            if count > 0 { cursor = page.entries[count - 1].cursor }
            return
        }
        cursor = page.cursor
        guard !page.isCut else { return }
        if let named { drop(except: named) }
        named = nil
        held.merge(windows) { known, new in known.union(new) }
        windows = [:]
        isReady = true
    }

    private mutating func apply(_ item: FeedItem) {
        received.append(item.key)
        named?.insert(item.key)
        switch item {
        case .conversation(let id, let conversation?): show(conversation, as: id)
        case .conversation(let id, nil): drop(id)
        case .message(let id, let message): messages[id] = message
        case .receipts(let id, let user, let known):
            receipts[ReceiptOwner(conversation: id, user: user)] = known
        case .identity(let user, let identity): identities[user] = identity
        case .announcement(let id, let announcement): announcements[id] = announcement
        }
    }

    private mutating func show(_ conversation: FeedConversation, as id: Conversation.ID) {
        let known = conversations[id]?.aliases ?? []
        let new = conversation.aliases.filter { alias in !known.contains(alias) }
        // A merge may have moved every message: what has not come again is dropped.
        if !new.isEmpty {
            for alias in new { drop(alias) }
            messages = messages.filter { _, message in
                message.message.conversation != id
                    || message.message.position >= conversation.windowFrom
            }
            held[id] = nil
        }
        conversations[id] = conversation
        messages = messages.filter { _, message in
            message.message.conversation != id
                || message.message.position > conversation.clearedTo
        }
        windows[id] = IntervalSet(
            conversation.windowFrom <= conversation.top
                ? [conversation.windowFrom.number...conversation.top.number] : [])
    }

    private mutating func drop(_ id: Conversation.ID) {
        conversations[id] = nil
        held[id] = nil
        windows[id] = nil
        messages = messages.filter { _, message in message.message.conversation != id }
        receipts = receipts.filter { owner, _ in owner.conversation != id }
    }

    private mutating func drop(except named: Set<String>) {
        for id in conversations.keys where !named.contains(FeedItem.conversation(id, nil).key) {
            conversations[id] = nil
            held[id] = nil
        }
        messages = messages.filter { id, _ in named.contains(FeedItem.message(id, nil).key) }
        receipts = receipts.filter { owner, _ in
            named.contains(
                FeedItem.receipts(owner.conversation, owner.user, Receipts()).key)
        }
        identities = identities.filter { user, _ in
            named.contains(FeedItem.identity(user, nil).key)
        }
        announcements = announcements.filter { id, _ in
            named.contains(FeedItem.announcement(id, nil).key)
        }
        held = [:]
    }

    /// Whether a message is unread by what the device knows.
    private func isUnread(_ message: MessageSnapshot) -> Bool {
        let owner = ReceiptOwner(conversation: message.message.conversation, user: user)
        return message.isUnread == true
            && receipts[owner]?.read.contains(message.message.position.number) != true
    }
}

extension FeedItem {
    /// The kind and the id.
    var key: String {
        switch self {
        case .conversation(let id, _): "conversation \(id.uuid)"
        case .message(let id, _): "message \(id.uuid)"
        case .receipts(let id, let user, _): "receipts \(id.uuid) \(user.text)"
        case .identity(let user, _): "identity \(user.text)"
        case .announcement(let id, _): "announcement \(id.uuid)"
        }
    }
}

// Comparing devices.
extension FeedDevice {
    /// Expects that the device shows what a fresh one with all messages shows, as far as it has messages.
    func expectSame(as fresh: FeedDevice, _ comment: Comment) {
        #expect(Set(conversations.keys) == Set(fresh.conversations.keys), comment)
        #expect(identities == fresh.identities, comment)
        #expect(announcements.keys == fresh.announcements.keys, comment)
        for (id, view) in announcements {
            #expect(view.announcement == fresh.announcements[id]?.announcement, comment)
            #expect(view.status == fresh.announcements[id]?.status, comment)
        }
        for (id, conversation) in conversations {
            guard let other = fresh.conversations[id] else { continue }
            expect(conversation, equals: other, comment)
            expectSameMessages(of: other, as: fresh, comment)
        }
        for message in messages.values {
            #expect(conversations[message.message.conversation] != nil, comment)
            guard let other = fresh.messages[message.message.id] else {
                Issue.record("\(comment): a message that does not exist")
                continue
            }
            #expect(message.message == other.message, comment)
            #expect(message.sender?.userID == other.sender?.userID, comment)
            #expect(isUnread(message) == fresh.isUnread(other), comment)
        }
        for owner in Set(receipts.keys).union(fresh.receipts.keys) {
            let range =
                fresh.conversations[owner.conversation].map { conversation in
                    IntervalSet(
                        conversation.clearedTo < conversation.top
                            ? [conversation.clearedTo.next.number...conversation.top.number] : [])
                } ?? IntervalSet()
            for kind in [\Receipts.read, \Receipts.delivered] {
                let known = receipts[owner]?[keyPath: kind].intersection(range) ?? IntervalSet()
                let other = fresh.receipts[owner]?[keyPath: kind].intersection(range)
                #expect(known == other ?? IntervalSet(), comment)
            }
        }
    }

    private func expect(
        _ conversation: FeedConversation, equals other: FeedConversation, _ comment: Comment
    ) {
        let (view, expected) = (conversation.view, other.view)
        #expect(
            view.participants.map(\.userID) == expected.participants.map(\.userID), comment)
        #expect(view.participantCount == expected.participantCount, comment)
        #expect(view.isDistinct == expected.isDistinct, comment)
        #expect(view.metadata == expected.metadata, comment)
        #expect(view.unreadCount == expected.unreadCount, comment)
        #expect(view.totalCount == expected.totalCount, comment)
        #expect(view.isFormer == expected.isFormer, comment)
        #expect(conversation.lastMessage == other.lastMessage, comment)
        #expect(conversation.aliases == other.aliases, comment)
        #expect(conversation.top == other.top, comment)
        #expect(conversation.clearedTo == other.clearedTo, comment)
    }

    /// At the positions that the device holds, it has exactly the messages that exist.
    private func expectSameMessages(
        of conversation: FeedConversation, as fresh: FeedDevice, _ comment: Comment
    ) {
        let held = held[conversation.view.id] ?? IntervalSet()
        func positions(of device: FeedDevice) -> [Int64] {
            device.messages.values.map(\.message).filter { message in
                message.conversation == conversation.view.id
                    && held.contains(message.position.number)
            }.map(\.position.number).sorted()
        }
        #expect(positions(of: self) == positions(of: fresh), comment)
        guard let own = conversations[conversation.view.id], own.windowFrom <= own.top else {
            return
        }
        #expect(held.contains(conversation.top.number), comment)
    }
}

extension SampleApplication {
    /// A device that has just received everything.
    func freshDevice(of user: UserID, history: FeedHistory = .all) async throws -> FeedDevice {
        var device = FeedDevice(of: user)
        while !device.isReady {
            device.apply(
                try await store.feed(
                    of: user, after: device.cursor, history: history, limit: 100, in: application))
        }
        return device
    }

    /// Expects that a fresh device has what the lists of the user have.
    func expectWhole(_ device: FeedDevice, _ comment: Comment) async throws {
        let listed = try await store.conversations(of: device.user, limit: 1000, in: application)
        #expect(Set(listed.items.map(\.id)) == Set(device.conversations.keys), comment)
        for view in listed.items {
            let page = try await store.messages(
                in: view.id, seenBy: .user(device.user), limit: 1000, in: application)
            let held = device.messages.values.filter { $0.message.conversation == view.id }
            #expect(Set(page.items.map(\.message.id)) == Set(held.map(\.message.id)), comment)
            #expect(view.lastMessage?.message.id == device.conversations[view.id]?.lastMessage)
            #expect(view.unreadCount == device.conversations[view.id]?.view.unreadCount)
        }
        let followed = try await store.following(of: device.user, limit: 1000, in: application)
        #expect(
            Set(followed.items).union([device.user]).isSuperset(of: device.identities.keys), comment
        )
    }
}
