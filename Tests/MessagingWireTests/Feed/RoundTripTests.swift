import JSON
import Messaging
import MessagingWire
import TestSupport
import Testing

/// What one side writes, the other side reads as the same value.
@Suite struct `Round trips` {
    @Test(arguments: TestRounds.seeds(200, of: 5000))
    func `items of a feed`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let item = random.item()
        let bytes = Array(text { item.write(Self.presentation, into: &$0) }.utf8)
        let read = try #require(try FeedItemJSON.read(JSONDocument(bytes).root))
        #expect(Array(text { read.write(Self.presentation, into: &$0) }.utf8) == bytes)
        // The shared members of a conversation are written from bytes, which a reader does not keep.
        if case .conversation = item { return }
        #expect(read == item)
    }

    @Test(arguments: TestRounds.seeds(100, of: 2000))
    func `an item that was changed at random is read, refused or ignored`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let item = random.item()
        let bytes = Array(text { item.write(Self.presentation, into: &$0) }.utf8)
        for _ in 0..<50 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: changed.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: changed[place] = UInt8.random(in: 0x20...0x7E, using: &random)
                case 1: changed.remove(at: place)
                case 2: changed.insert(contentsOf: Array("99999999999999999999".utf8), at: place)
                default:
                    changed.replaceSubrange(
                        place..<min(place + 8, changed.count), with: Array("null".utf8))
                }
            }
            guard let document = try? JSONDocument(changed) else { continue }
            // Reading must end; what it returns depends on the change.
            _ = try? FeedItemJSON.read(document.root)
        }
    }

    @Test func `an unknown type is ignored, a malformed item of a known one is not`() throws {
        #expect(try FeedItemJSON.read(json(#"{"type":"poll","id":"x","data":{}}"#)) == nil)
        for text in [
            #"{"type":"message","id":"x","data":null}"#, #"{"type":"message","data":null}"#,
            #"{"type":"message","id":"layer:///messages/\#(Sample.message)","data":{}}"#,
            #"{"type":"conversation","id":"layer:///conversations/\#(Sample.conversation)","data":5}"#,
            #"{"type":"receipts","id":"x","data":{"conversation":"y"}}"#, "[]", "5",
        ] {
            #expect(throws: FeedItemError.self) { try FeedItemJSON.read(json(text)) }
        }
    }

    @Test(arguments: TestRounds.seeds(100, of: 2000))
    func `requests of a user`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let ana = try user("ana")
        let conversation = try Conversation.Draft(
            participants: [ana] + random.users(3), isDistinct: random.next() % 2 == 0,
            metadata: random.next() % 2 == 0 ? nil : random.object(2),
            proposedID: random.next() % 2 == 0 ? nil : Sample.conversation)
        #expect(
            try ConversationDraftJSON.read(
                JSONDocument(ConversationDraftJSON.body(conversation)).root, .v3_0,
                MessagingLimits(), by: .user(ana)) == conversation)
        let parts = try (0...Int(random.next() % 3)).map { _ in
            try MessagePart.Draft(
                mimeType: "text/plain", body: random.body(),
                proposedID: random.next() % 2 == 0 ? nil : random.id())
        }
        let message = try Message.Draft(
            sender: .user(ana), parts: parts,
            notification: random.next() % 2 == 0 ? nil : Array(#"{"text":"x"}"#.utf8),
            proposedID: random.id())
        #expect(
            try MessageDraftJSON.read(
                JSONDocument(MessageDraftJSON.userBody(message)).root, by: ana) == message)
        let patches: [ConversationPatch] = [
            .addParticipant(random.user()), .removeParticipant(random.user()),
            .setParticipants(Array(Set(random.users(4)))),
            .setMetadata(path: ["a", "b"], random.tree(2)), .deleteMetadata(path: []),
            .setMetadata(path: [], random.object(1)), .deleteMetadata(path: ["c"]),
        ].shuffled(using: &random)
        #expect(
            try ConversationPatchJSON.read(
                JSONDocument(ConversationPatchJSON.body(patches)).root, .v3_0, MessagingLimits())
                == patches)
        let positions = random.intervals().union(IntervalSet(1...1))
        let receipt = try ReceiptJSON.readPositions(
            JSONDocument(ReceiptJSON.body(.read, positions)).root)
        #expect(receipt.kind == .read && receipt.positions == positions)
    }

    private static let presentation = Sample.presentation(.v3_0)
}

extension SeededGenerator {
    fileprivate mutating func id<Subject>() -> Identifier<Subject> {
        .v7(at: moment(), random: .random(in: 0 ... .max, using: &self))
    }

    fileprivate mutating func moment() -> Timestamp {
        Timestamp(milliseconds: .random(in: 0...4_000_000_000_000, using: &self))
    }

    fileprivate mutating func text() -> String {
        let texts = ["", "Hello", "a\"b\\c\n\u{1}", "\u{1F600} Zoë 中文", "layer:///x", "{}"]
        return texts.randomElement(using: &self) ?? ""
    }

    fileprivate mutating func user() -> UserID {
        let names = ["ana", "bo", "team/42", "Zoë", "a b", "%2F", "\u{1F600}", "x\"y"]
        return UserID(names.randomElement(using: &self) ?? "ana") ?? Self.fallback
    }

    private static var fallback: UserID {
        guard let user = UserID("ana") else { preconditionFailure("ana is a user id") }
        return user
    }

    fileprivate mutating func users(_ most: Int) -> [UserID] {
        (0..<Int.random(in: 0...most, using: &self)).map { _ in user() }
    }

    fileprivate mutating func basic() -> BasicIdentity {
        BasicIdentity(
            userID: user(), displayName: next() % 2 == 0 ? nil : text(),
            avatarURL: next() % 2 == 0 ? nil : text())
    }

    fileprivate mutating func tree(_ depth: Int) -> MetadataTree {
        depth == 0 || next() % 2 == 0 ? .text(text()) : object(depth)
    }

    fileprivate mutating func object(_ depth: Int) -> MetadataTree {
        var members: [MetadataTree.Member] = []
        for index in 0..<Int(next() % 3) {
            members.append(.init(key: "key-\(index)", value: tree(depth - 1)))
        }
        return .object(members)
    }

    fileprivate mutating func intervals() -> IntervalSet {
        IntervalSet(
            (0..<Int(next() % 5)).map { _ in
                let low = Int64.random(in: 1...1_000_000, using: &self)
                return low...(low + Int64(next() % 10))
            })
    }

    fileprivate mutating func body() -> MessagePart.Body {
        switch next() % 3 {
        case 0: .inline(Array(text().utf8))
        case 1: .inline((0..<Int(next() % 50)).map { _ in UInt8.random(in: 0...255, using: &self) })
        default: .content(id(), size: Int64(next() % 1_000_000))
        }
    }

    fileprivate mutating func messageParts() -> [MessagePart] {
        (0...Int(next() % 3)).map { index in
            MessagePart(
                id: id(), index: index, mimeType: "text/plain", body: body(),
                updatedAt: next() % 2 == 0 ? nil : moment())
        }
    }

    fileprivate mutating func message() -> MessageJSON {
        let basic = basic()
        let sender: (Sender, BasicIdentity?) =
            next() % 4 == 0 ? (.named("Billing"), nil) : (.user(basic.userID), basic)
        var seen: Set<UserID> = []
        let recipients = users(4).filter { seen.insert($0).inserted }.map { user in
            MessageSnapshot.Recipient(
                userID: user, status: RecipientStatus.allCases.randomElement(using: &self) ?? .sent)
        }
        return MessageJSON(
            MessageSnapshot(
                message: Message(
                    id: id(), conversation: id(), position: Position(Int64(next() % 1_000_000)),
                    sender: sender.0, sentAt: moment(), parts: messageParts(),
                    updatedAt: next() % 2 == 0 ? nil : moment()),
                sender: sender.1, recipients: recipients,
                recipientCounts: next() % 3 > 0
                    ? nil : RecipientCounts(sent: 5, delivered: 7, read: 9),
                isUnread: next() % 2 == 0, receivedAt: next() % 2 == 0 ? nil : moment()))
    }

    fileprivate mutating func item() -> FeedItemJSON {
        let isGone = next() % 5 == 0
        switch next() % 5 {
        case 0:
            let view = ConversationView(
                id: id(), createdAt: moment(), participants: (0..<3).map { _ in basic() },
                participantCount: Int(next() % 300), isDistinct: next() % 2 == 0,
                metadata: object(3), lastMessage: nil, unreadCount: 0, totalCount: 0,
                isFormer: false, version: 1)
            let feed = ConversationJSON.FeedMembers(
                lastMessage: next() % 2 == 0 ? nil : id(), unreadCount: Int64(next() % 100),
                totalCount: Int64(next() % 1000), aliases: (0..<Int(next() % 3)).map { _ in id() },
                top: Position(Int64(next() % 1000)), windowFrom: Position(1),
                clearedTo: Position(Int64(next() % 10)))
            return .conversation(
                view.id,
                isGone
                    ? nil
                    : ConversationJSON(
                        view, feed,
                        members: ConversationJSON.members(of: view, Sample.presentation(.v3_0))))
        case 1:
            let message = message()
            return .message(message.snapshot.message.id, isGone ? nil : message)
        case 2:
            return .receipts(
                id(), user(), Receipts(delivered: intervals(), read: intervals()))
        case 3:
            var identity = Identity(
                userID: user(), displayName: "x", kind: next() % 2 == 0 ? .user : .bot,
                metadata: ["color": text()])
            for member in Identity.Member.allCases where next() % 2 == 0 {
                identity[member] = text()
            }
            return .identity(identity.userID, isGone ? nil : identity)
        default:
            let announcement: Announcement.ID = id()
            let parts = (0...Int(next() % 2)).map { index in
                MessagePart(
                    id: MessagePart.ID(announcement), index: index, mimeType: "text/plain",
                    body: .inline(Array(text().utf8)))
            }
            let basic = basic()
            return .announcement(
                announcement,
                isGone
                    ? nil
                    : AnnouncementJSON(
                        Announcement(
                            id: announcement, sender: .user(basic.userID), sentAt: moment(),
                            parts: parts),
                        sender: basic, recipients: .viewer(user(), .delivered)))
        }
    }
}
