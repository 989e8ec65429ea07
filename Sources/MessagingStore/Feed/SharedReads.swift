import Messaging
import SQL

/// A conversation and a user that may see it.
struct ViewKey: Hashable {
    let conversation: Conversation.ID
    let user: UserID

    /// The columns of a table of keys: conversation, user id.
    static func columns(of keys: [ViewKey]) -> [SQLArray] {
        [.blobs(keys.map { key in key.conversation.bytes }), .texts(keys.map(\.user.text))]
    }
}

/// What one transaction has read, for a user that catches up or for all users that a batch of events concerns.
///
/// Each method reads what was not read before, all of it with a constant number of statements. Once a batch has named
/// everything that its users need, what one of them needs is read without a statement.
final class SharedReads {
    let transaction: Transaction
    let application: Application.ID
    private var views = Memo<ViewKey, FeedView>()
    private var rows = Memo<ViewKey, ConversationViewRow>()
    private var sharedMarks = Memo<Conversation.ID, [Mark]>()
    private var ownMarks = Memo<ViewKey, [Mark]>()
    private var aliases = Memo<Conversation.ID, [Conversation.ID]>()
    private var participants = Memo<Conversation.ID, [BasicIdentity]>()
    private var sentBefore = Memo<SentRange, Position>()
    private var heads = Memo<Message.ID, MessageHead>()
    private var hidden = Memo<Message.ID, Set<UserID>>()
    private var ownChanges = Memo<OwnMessage, LogPosition>()
    private var sources = Memo<Message.ID, MessageSource>()
    private var receipts = Memo<ReceiptOwner, Receipts>()
    private var received = Memo<ReceiptInterval, [ReceivedMessage]>()
    private var identities = Memo<UserID, BasicIdentity>()

    init(_ transaction: Transaction, in application: Application.ID) {
        self.transaction = transaction
        self.application = application
    }

    /// The latest change of a conversation, or of what one user sees of it.
    struct Mark {
        let kind: TouchedKind
        let position: LogPosition
        let isGone: Bool

        fileprivate init(_ row: borrowing Row, from first: Int) throws {
            guard let kind = TouchedKind(rawValue: try row.int64(.index(first))) else {
                throw StoreFault.unreadable("touched.kind")
            }
            self.kind = kind
            position = LogPosition(try row.int64(.index(first + 1)))
            isGone = try row.int64(.index(first + 2)) > 0
        }
    }

    /// A message without its parts.
    struct MessageHead {
        let conversation: Conversation.ID
        let position: Position
        /// The positions of the events that recorded it and that last changed it.
        let event: LogPosition
        let changed: LogPosition
        let weight: Int64
    }

    /// A message and a user whose view of it may have changed.
    struct OwnMessage: Hashable {
        let message: Message.ID
        let user: UserID
    }

    /// A range of positions of a conversation, of which the messages are wanted that were sent up to an event.
    struct SentRange: Hashable {
        let conversation: Conversation.ID
        let bottom: Position
        let top: Position
        let event: LogPosition
    }

    /// Positions of messages whose receipts an event records.
    struct ReceiptInterval: Hashable {
        let event: LogPosition
        let owner: ReceiptOwner
        let positions: ClosedRange<Int64>
    }

    /// A message of others than the participant whose receipts an event records.
    struct ReceivedMessage {
        let id: Message.ID
        let position: Position
    }
}

// MARK: - Conversations

extension SharedReads {
    /// Reads which conversations users see.
    func readViews(_ keys: some Sequence<ViewKey>) throws {
        try views.read(keys) { keys in
            try transaction.rows(
                """
                SELECT \(raw: Participant.columns), p.conversation, c.last_position
                FROM \(table: "named", of: ViewKey.columns(of: keys))
                JOIN participants p ON p.application = \(application)
                    AND p.conversation = named.column1 AND p.user_id = named.column2
                JOIN conversations c ON c.application = p.application AND c.id = p.conversation
                WHERE p.state = 'shown'
                """
            ) { row in
                let view = try FeedView(row)
                return (view.key, view)
            }
        }
    }

    /// Adds what a query has read that finds the users of conversations.
    func add(_ views: [FeedView]) {
        for view in views { self.views.add(view, for: view.key) }
    }

    /// The conversation as far as the user sees it.
    func view(_ key: ViewKey) -> FeedView? { views[key] }

    /// Reads when conversations have changed for users.
    func readMarks(_ keys: [ViewKey]) throws {
        try sharedMarks.read(Set(keys.map(\.conversation))) { ids in
            let found = try transaction.rows(
                """
                SELECT t.stream, t.kind, t.position, t.gone_at FROM touched t
                WHERE t.application = \(application) AND t.stream \(in: ids)
                    AND t.kind \(in: .integers([TouchedKind.counts, .window].map(\.rawValue)))
                UNION ALL
                SELECT id, \(TouchedKind.conversation.rawValue), changed, 0 FROM conversations
                WHERE application = \(application) AND id \(in: ids)
                """
            ) { row in (try row.id(0) as Conversation.ID, try Mark(row, from: 1)) }
            return found.grouped()
        }
        try ownMarks.read(keys) { keys in
            let columns =
                ViewKey.columns(of: keys) + [.blobs(keys.map { Array($0.user.text.utf8) })]
            let found = try transaction.rows(
                """
                SELECT named.column1, named.column2, t.kind, t.position, t.gone_at
                FROM \(table: "named", of: columns)
                JOIN touched t ON t.application = \(application) AND t.stream = named.column1
                    AND t.kind = \(TouchedKind.receipts.rawValue) AND t.id = named.column3
                UNION ALL
                SELECT named.column1, named.column2, t.kind, t.position, t.gone_at
                FROM \(table: "named", of: columns)
                JOIN touched t ON t.application = \(application) AND t.stream = named.column3
                    AND t.kind \(in: .integers([TouchedKind.view, .viewWindow].map(\.rawValue)))
                    AND t.id = named.column1
                """
            ) { row in
                (
                    ViewKey(conversation: try row.id(0), user: try row.user(1)),
                    try Mark(row, from: 2)
                )
            }
            return found.grouped()
        }
    }

    /// The marks of a conversation for a user.
    func marks(_ key: ViewKey) -> [Mark] {
        (sharedMarks[key.conversation] ?? []) + (ownMarks[key] ?? [])
    }

    /// Reads the rows of conversations that users see.
    func readRows(_ keys: some Sequence<ViewKey>) throws {
        try rows.read(keys) { keys in try transaction.viewRows(of: keys, in: application) }
    }

    func row(_ key: ViewKey) -> ConversationViewRow? { rows[key] }

    /// Reads the participants that conversations show.
    func readParticipants(shownBy rows: [ConversationViewRow]) throws {
        let current = Dictionary(rows.filter { row in !row.isFormer }.map { ($0.id, $0) }) {
            first, _ in first
        }
        try participants.read(current.keys) { ids in
            try transaction.participants(
                shownBy: Set(ids).compactMap { id in current[id] }, in: application
            ).map { id, shown in (id, shown) }
        }
    }

    func participants(of id: Conversation.ID) -> [BasicIdentity] { participants[id] ?? [] }

    /// Reads the aliases of conversations.
    func readAliases(of ids: some Sequence<Conversation.ID>) throws {
        try aliases.read(ids) { ids in
            try transaction.aliases(of: ids, in: application).map { id, aliases in (id, aliases) }
        }
    }

    func aliases(of id: Conversation.ID) -> [Conversation.ID] { aliases[id] ?? [] }

    /// The highest position in a range of a conversation of a message that was sent up to an event.
    func lastSent(in range: SentRange) throws -> Position? {
        try sentBefore.read([range]) { _ in
            let last = try transaction.first(
                """
                SELECT position FROM messages
                WHERE application = \(application) AND conversation = \(range.conversation)
                    AND position BETWEEN \(range.bottom) AND \(range.top)
                    AND event <= \(range.event)
                ORDER BY position DESC LIMIT 1
                """
            ) { row in try row.position(0) }
            return last.map { last in [(range, last)] } ?? []
        }
        return sentBefore[range]
    }
}

// MARK: - Messages

extension SharedReads {
    /// Reads where messages are, as far as they exist, and from which users they are hidden.
    func readHeads(of ids: some Sequence<Message.ID>) throws {
        let ids = Array(ids)
        try heads.read(ids) { ids in
            try transaction.rows(
                """
                SELECT id, conversation, position, event, weight, COALESCE(changed, event) FROM messages
                WHERE application = \(application) AND id \(in: ids)
                """
            ) { row in
                (
                    try row.id(0) as Message.ID,
                    MessageHead(
                        conversation: try row.id(1), position: try row.position(2),
                        event: LogPosition(try row.int64(3)),
                        changed: LogPosition(try row.int64(5)), weight: try row.int64(4))
                )
            }
        }
        let existing = ids.filter { id in heads[id] != nil }
        try hidden.read(existing) { ids in
            let heads = ids.compactMap { id in self.heads[id] }
            let found = try transaction.rows(
                """
                SELECT named.column1, h.user_id
                FROM \(table: "named", of: [
                    .blobs(ids.map { id in id.bytes }),
                    .blobs(heads.map { head in head.conversation.bytes }),
                    .integers(heads.map(\.position.number)),
                ])
                JOIN hidden_messages h ON h.application = \(application)
                    AND h.conversation = named.column2 AND h.position = named.column3
                """
            ) { row in (try row.id(0) as Message.ID, try row.user(1)) }
            return found.grouped().map { id, users in (id, Set(users)) }
        }
    }

    /// Where a message is; `nil` if it does not exist.
    func head(of id: Message.ID) -> MessageHead? { heads[id] }

    /// Whether a message is hidden from a user.
    func isHidden(_ id: Message.ID, from user: UserID) -> Bool {
        hidden[id]?.contains(user) == true
    }

    /// Reads the changes of messages in the streams of users.
    func readOwnChanges(_ keys: some Sequence<OwnMessage>) throws {
        try ownChanges.read(keys) { keys in
            try transaction.rows(
                """
                SELECT named.column1, named.column2, t.position
                FROM \(table: "named", of: [
                    .blobs(keys.map { key in key.message.bytes }), .texts(keys.map(\.user.text)),
                    .blobs(keys.map { key in Array(key.user.text.utf8) }),
                ])
                JOIN touched t ON t.application = \(application) AND t.stream = named.column3
                    AND t.kind = \(TouchedKind.viewedMessage.rawValue) AND t.id = named.column1
                """
            ) { row in
                (
                    OwnMessage(message: try row.id(0), user: try row.user(1)),
                    LogPosition(try row.int64(2))
                )
            }
        }
    }

    /// The latest change of a message in the stream of a user; `nil` for none.
    func ownChange(_ key: OwnMessage) -> LogPosition? { ownChanges[key] }

    /// Reads messages with their recipients.
    func readMessages(_ ids: some Sequence<Message.ID>) throws {
        try sources.read(ids) { ids in
            let messages = try transaction.messages(ids, in: application)
            return try transaction.sources(of: Array(messages.values), in: application)
                .map { source in (source.message.id, source) }
        }
    }

    /// A message as a user sees it; `nil` if it does not exist. In a wide conversation, the view and the receipts of the
    /// user must have been read.
    func snapshot(of id: Message.ID, seenBy user: UserID) -> MessageSnapshot? {
        guard let source = sources[id] else { return nil }
        guard source.isWide else { return source.snapshot(seenBy: user) }
        let owner = ReceiptOwner(conversation: source.message.conversation, user: user)
        let view = views[ViewKey(conversation: owner.conversation, user: user)]
        return source.snapshot(
            seenBy: user,
            view.map { view in
                ParticipantReceipts(participant: view.participant, receipts: receipts[owner])
            })
    }

    /// The wide conversations of messages that were read.
    func wideConversations(of ids: some Sequence<Message.ID>) -> Set<Conversation.ID> {
        Set(
            ids.compactMap { id in
                sources[id].flatMap { source in
                    source.isWide ? source.message.conversation : nil
                }
            })
    }
}

// MARK: - Receipts and identities

extension SharedReads {
    /// Reads the receipts of participants.
    func readReceipts(of owners: some Sequence<ReceiptOwner>) throws {
        try receipts.read(owners) { owners in
            try transaction.rows(
                """
                SELECT r.delivered, r.read, r.conversation, r.user_id
                FROM \(table: "named", of: [
                    .blobs(owners.map { owner in owner.conversation.bytes }),
                    .texts(owners.map(\.user.text)),
                ])
                JOIN receipts r ON r.application = \(application)
                    AND r.conversation = named.column1 AND r.user_id = named.column2
                """
            ) { row in
                (
                    ReceiptOwner(conversation: try row.id(2), user: try row.user(3)),
                    try Receipts(row)
                )
            }
        }
    }

    func receipts(of owner: ReceiptOwner) -> Receipts? { receipts[owner] }

    /// Reads the messages in intervals, and where they are; the newest, if there are more than `limit`.
    func readMessages(in intervals: some Collection<ReceiptInterval>, limit: Int) throws {
        try received.read(intervals) { intervals in
            let found = try transaction.rows(
                """
                SELECT named.column1, named.column2, named.column3, named.column4, named.column5,
                    m.id, m.position
                FROM \(table: "named", of: ReceiptInterval.columns(of: Set(intervals)))
                JOIN messages m ON m.application = \(application)
                    AND m.conversation = named.column2
                    AND m.position BETWEEN named.column4 AND named.column5
                WHERE m.sender_user IS NULL OR m.sender_user <> named.column3
                ORDER BY m.position DESC LIMIT \(limit)
                """
            ) { row in
                (
                    ReceiptInterval(
                        event: LogPosition(try row.int64(0)),
                        owner: ReceiptOwner(conversation: try row.id(1), user: try row.user(2)),
                        positions: try row.int64(3)...(try row.int64(4))),
                    ReceivedMessage(id: try row.id(5), position: try row.position(6))
                )
            }
            return found.grouped().map { interval, messages in (interval, messages.reversed()) }
        }
        try readHeads(of: intervals.flatMap { interval in received[interval] ?? [] }.map(\.id))
    }

    /// The messages in an interval, in the order of their positions.
    func messages(in interval: ReceiptInterval) -> [ReceivedMessage] { received[interval] ?? [] }

    /// Reads the identities of users.
    func readIdentities(of users: some Sequence<UserID>) throws {
        try identities.read(users) { users in
            try transaction.identities(of: Set(users), in: application)
                .map { user, identity in (user, identity) }
        }
    }

    /// The identity of a user; of one without an identity, its id alone.
    func identity(of user: UserID) -> BasicIdentity {
        identities[user] ?? BasicIdentity(userID: user)
    }
}

extension FeedView {
    /// The positions within the view of messages whose receipts an event records.
    func intervals(
        of payload: ReceiptsRecorded, at event: LogPosition
    ) -> [SharedReads.ReceiptInterval] {
        guard bottom <= top else { return [] }
        let owner = ReceiptOwner(conversation: payload.conversation, user: payload.user)
        return payload.positions.intersection(IntervalSet(bottom.number...top.number))
            .intervals.map { positions in
                SharedReads.ReceiptInterval(event: event, owner: owner, positions: positions)
            }
    }
}

extension SharedReads.ReceiptInterval {
    /// The columns of a table of intervals: event, conversation, participant, first and last position.
    static func columns(of intervals: Set<Self>) -> [SQLArray] {
        [
            .integers(intervals.map(\.event.number)),
            .blobs(intervals.map { interval in interval.owner.conversation.bytes }),
            .texts(intervals.map(\.owner.user.text)),
            .integers(intervals.map(\.positions.lowerBound)),
            .integers(intervals.map(\.positions.upperBound)),
        ]
    }
}

/// Values that were read, by their keys.
private struct Memo<Key: Hashable, Value> {
    /// `nil` for a key without a value.
    private var values: [Key: Value?] = [:]

    /// The value of a key that was read before; `nil` for none.
    subscript(key: Key) -> Value? { values[key] ?? nil }

    mutating func add(_ value: Value, for key: Key) { values[key] = .some(value) }

    /// Reads the values of the keys that were not read before.
    ///
    /// - Parameter query: Reads values of a few different numbers of keys, because on SQLite a table of keys has
    ///   a statement for each length: the last key may be repeated.
    mutating func read(
        _ keys: some Sequence<Key>, _ query: ([Key]) throws -> [(Key, Value)]
    ) rethrows {
        var missing: [Key] = []
        for key in keys where values[key] == nil {
            values[key] = .some(nil)
            missing.append(key)
        }
        for keys in missing.chunks(of: 256) {
            var count = 1
            while count < keys.count { count *= 2 }
            let repeated = Array(repeating: keys[keys.count - 1], count: count - keys.count)
            for (key, value) in try query(keys + repeated) { values[key] = .some(value) }
        }
    }
}

extension Array {
    /// The values of pairs by their keys, in their order.
    fileprivate func grouped<Key: Hashable, Value>() -> [(Key, [Value])]
    where Element == (Key, Value) {
        Dictionary(grouping: self) { pair in pair.0 }
            .map { key, pairs in (key, pairs.map { pair in pair.1 }) }
    }
}
