import Messaging
import SQL

/// Reads objects in their state right after an event, from their current rows and their earlier states.
///
/// It is used in one read transaction, for events in ascending order, and caches what it has read. If the objects of a
/// page of events have not changed since, the page needs only a few statements more than the current objects would.
struct ObjectHistory {
    private let transaction: Transaction
    private let application: Application.ID
    /// No event before this position is requested.
    private let first: LogPosition

    // The current rows; `.some(nil)` for an object that does not exist.
    private var users: [UserID: FormerIdentity?] = [:]
    private var conversations: [Conversation.ID: Conversation?] = [:]
    private var participants: [Conversation.ID: [PositionedParticipant]] = [:]
    /// Wide conversations whose participants are read when they are needed.
    private var unread: Set<Conversation.ID> = []
    private var receipts: [Conversation.ID: [ReceiptOwner: Receipts]] = [:]
    private var messages: [Message.ID: Message?] = [:]
    private var merges: MergeHistory

    /// For each object the positions after `first` at which a state of it ended, ascending.
    private var ends: [HistoricalObject: [LogPosition]] = [:]
    /// For each object the state that was read last, and the range of positions it is valid for.
    private var states: [HistoricalObject: FormerState] = [:]

    /// The total size of the earlier states read so far, in bytes. A caller ends its page when it is too large.
    private(set) var weight: Int64 = 0

    private struct FormerState {
        /// The event that the state was read for.
        let from: LogPosition
        /// The event that ended the state.
        let until: LogPosition
        /// The encoded state; `nil` when no event after `from` ended a state, so that the rows have it.
        let state: [UInt8]?
    }

    /// - Parameter first: The earliest event whose objects will be read.
    init(_ transaction: Transaction, from first: LogPosition, in application: Application.ID) {
        self.transaction = transaction
        self.application = application
        self.first = first
        merges = MergeHistory(transaction, from: first, in: application)
    }

    // MARK: - Loading ahead

    /// Loads objects that many events need, with a few statements for each kind of object.
    mutating func load(
        users someUsers: Set<UserID> = [],
        conversations someConversations: Set<Conversation.ID> = [],
        messages someMessages: Set<Message.ID> = []
    ) throws {
        let newUsers = someUsers.filter { user in users[user] == nil }
        if !newUsers.isEmpty {
            for user in newUsers { users[user] = .some(nil) }
            for user in try transaction.users(newUsers, in: application) {
                users[user.id] = FormerIdentity(
                    identity: user.identity, isKnown: user.knownIdentity != nil)
            }
        }
        let newConversations = someConversations.filter { id in participants[id] == nil }
        if !newConversations.isEmpty {
            for id in newConversations { participants[id] = [] }
            let wide = try transaction.wideConversations(
                among: Array(newConversations), in: application)
            unread.formUnion(wide)
            try loadParticipants(of: newConversations.subtracting(wide))
        }
        let newMessages = someMessages.filter { id in messages[id] == nil }
        if !newMessages.isEmpty {
            for id in newMessages { messages[id] = .some(nil) }
            for (id, message) in try transaction.messages(Array(newMessages), in: application) {
                messages[id] = message
            }
        }
        try loadEnds(
            of: newUsers.map(HistoricalObject.identity)
                + newConversations.flatMap { id in
                    [.participants(id), .someParticipants(id), .conversation(id)]
                }
                + newMessages.map(HistoricalObject.message))
    }

    private mutating func loadParticipants(of conversations: Set<Conversation.ID>) throws {
        guard !conversations.isEmpty else { return }
        let found = try transaction.participants(
            of: Array(conversations), reachedFrom: .start, in: application)
        participants.merge(Dictionary(grouping: found, by: \.conversation)) { _, new in new }
    }

    /// Loads the positions at which states of objects ended. If there are very many in a chunk, none are loaded, and
    /// the states of its objects are looked up one by one.
    private mutating func loadEnds(of objects: [HistoricalObject]) throws {
        let new = objects.filter { object in ends[object] == nil }
        for chunk in new.powerOfTwoChunks(upTo: 256) {
            let names = Dictionary(uniqueKeysWithValues: chunk.map { ($0.key, $0) })
            let found = try transaction.rows(
                """
                SELECT object, until FROM object_history
                WHERE application = \(application) AND object \(in: .blobs(chunk.map(\.key)))
                    AND until > \(first)
                ORDER BY object, until LIMIT \(Self.mostEnds)
                """
            ) { row in (try row.blob(0), LogPosition(try row.int64(1))) }
            guard found.count < Self.mostEnds else { continue }
            for object in chunk { ends[object] = [] }
            for (key, until) in found {
                if let object = names[key] { ends[object]?.append(until) }
            }
        }
    }

    /// The number of positions from which on none are loaded.
    private static let mostEnds = 2000

    // MARK: - States

    /// The encoded state of an object right after an event, and the event that ended it; `nil` when the object's rows
    /// still hold that state.
    private mutating func former(
        _ object: HistoricalObject, at position: LogPosition
    ) throws -> (state: [UInt8], until: LogPosition)? {
        if let known = states[object], known.from <= position, position < known.until {
            return known.state.map { state in (state, known.until) }
        }
        if let ends = ends[object], ends.last.map({ end in end <= position }) ?? true { return nil }
        let found = try transaction.first(
            """
            SELECT until, state FROM object_history
            WHERE application = \(application) AND object = \(object.key) AND until > \(position)
            ORDER BY until LIMIT 1
            """
        ) { row in
            FormerState(
                from: position, until: LogPosition(try row.int64(0)), state: try row.blob(1))
        }
        weight += Int64(found?.state?.count ?? 0)
        states[object] =
            found ?? FormerState(from: position, until: LogPosition(.max), state: nil)
        return found.flatMap { found in found.state.map { state in (state, found.until) } }
    }

    /// The decoded state of an object right after an event.
    ///
    /// - Returns: `nil` when the object's rows still hold that state.
    /// - Throws: A fault when bytes are left over or missing.
    private mutating func former<Value>(
        _ object: HistoricalObject, at position: LogPosition,
        _ decode: (inout ByteReader) throws -> Value
    ) throws -> Value? {
        guard let former = try former(object, at: position) else { return nil }
        var reader = ByteReader(former.state)
        let value = try decode(&reader)
        try reader.finish()
        return value
    }

    // MARK: - Objects

    /// A user's identity right after an event.
    mutating func user(_ user: UserID, at position: LogPosition) throws -> FormerIdentity {
        try load(users: [user])
        let unknown = FormerIdentity(identity: Identity(userID: user), isKnown: false)
        let former = try former(.identity(user), at: position) { reader in
            reader.isAtEnd ? unknown : try FormerIdentity(from: &reader)
        }
        return former ?? users[user].flatMap(\.self) ?? unknown
    }

    /// The members of a user's identity that other objects showed right after an event.
    mutating func identity(of user: UserID, at position: LogPosition) throws -> BasicIdentity {
        try self.user(user, at: position).identity.basic
    }

    /// The current and former participants of a conversation right after an event, in order.
    mutating func participants(
        of id: Conversation.ID, at position: LogPosition
    ) throws -> [PositionedParticipant] {
        try load(conversations: [id])
        let former = try former(.participants(id), at: position)
        if former == nil, unread.remove(id) != nil { try loadParticipants(of: [id]) }
        let all = try former.map { former in
            try Self.participants(former.state)
        }
        let changed = try changed(in: id, at: position, before: former?.until)
        return (all ?? participants[id] ?? [])
            .map { entry in changed[entry.participant.userID] ?? entry }
            .sorted(by: PositionedParticipant.precedes)
    }

    /// The participants of a wide conversation that were stored by themselves before they changed, right after an
    /// event.
    ///
    /// - Parameter end: The event before which all participants were stored; `nil` for none.
    private mutating func changed(
        in id: Conversation.ID, at position: LogPosition, before end: LogPosition?
    ) throws -> [UserID: PositionedParticipant] {
        let object = HistoricalObject.someParticipants(id)
        if let ends = ends[object], ends.last.map({ end in end <= position }) ?? true {
            return [:]
        }
        let states = try transaction.rows(
            """
            SELECT state FROM object_history
            WHERE application = \(application) AND object = \(object.key)
                AND until > \(position) AND until < \(end ?? LogPosition(.max))
            ORDER BY until
            """
        ) { row in try row.blob(0) }
        var first: [UserID: PositionedParticipant] = [:]
        for state in states {
            weight += Int64(state.count)
            for entry in try Self.participants(state)
            where first[entry.participant.userID] == nil {
                first[entry.participant.userID] = entry
            }
        }
        return first
    }

    private static func participants(_ state: [UInt8]) throws -> [PositionedParticipant] {
        var reader = ByteReader(state)
        let participants = try reader.each { reader in try PositionedParticipant(from: &reader) }
        try reader.finish()
        return participants
    }

    /// A conversation right after an event, with its participants and without what messages change; `nil` if no
    /// conversation had this id then.
    mutating func conversation(
        _ id: Conversation.ID, at position: LogPosition
    ) throws -> Conversation? {
        guard var found = try stored(id, at: position)?.withoutCounts else { return nil }
        let present = try participants(of: id, at: position).map(\.participant)
            .filter { participant in !participant.isFormer }
        found.participants = Participants(present.map(\.userID))
        return found
    }

    /// A conversation right after an event, without its participants. What messages change in it may be from later.
    mutating func stored(
        _ id: Conversation.ID, at position: LogPosition
    ) throws -> Conversation? {
        let former = try former(.conversation(id), at: position) { reader in
            reader.isAtEnd ? nil : try Conversation(from: &reader)
        }
        if let former { return former }
        if conversations[id] == nil {
            conversations[id] = .some(try transaction.storedConversation(id, in: application))
        }
        return conversations[id].flatMap(\.self)
    }

    /// The positions that a participant had received and read right after an event.
    mutating func receipts(
        of owner: ReceiptOwner, at position: LogPosition
    ) throws -> Receipts {
        if receipts[owner.conversation] == nil {
            receipts[owner.conversation] = try transaction.receipts(
                in: [owner.conversation], in: application)
            let owners = try participants(of: owner.conversation, at: position).map { entry in
                ReceiptOwner(
                    conversation: owner.conversation, user: entry.participant.userID)
            }
            try loadEnds(of: owners.map(HistoricalObject.receipts))
        }
        return try former(.receipts(owner), at: position) { reader in
            try Receipts(from: &reader)
        } ?? receipts[owner.conversation]?[owner] ?? Receipts()
    }

    /// A message right after an event, with the conversation and position it had then; `nil` if it was deleted. The
    /// caller makes sure that it was sent by then.
    mutating func message(_ id: Message.ID, at position: LogPosition) throws -> Message? {
        try load(messages: [id])
        let former = try former(.message(id), at: position)
        guard let former else {
            guard let message = messages[id].flatMap(\.self) else { return nil }
            return try merges.movedBack(message, from: nil, to: position)
        }
        var reader = ByteReader(former.state)
        let message = try Message(from: &reader)
        try reader.finish()
        return try merges.movedBack(message, from: former.until, to: position)
    }

    /// The messages of a receipt right after its event, by ascending position, including those deleted since.
    ///
    /// The positions of the receipt may include messages that its user sent; these are left out (R78).
    ///
    /// - Parameters:
    ///   - last: Only messages after this position are returned.
    ///   - limit: The maximum number of messages, at least 1.
    mutating func messages(
        of receipts: ReceiptsRecorded, at position: LogPosition, after last: Position, limit: Int
    ) throws -> [Message] {
        var found: [Message] = []
        for interval in receipts.positions.intervals where interval.upperBound > last.number {
            var rest = max(interval.lowerBound, last.number + 1)...interval.upperBound
            while found.count < limit {
                let messages = try messages(
                    in: receipts.conversation, at: rest, notBy: receipts.user,
                    limit: limit - found.count, order: .ascending, position)
                found += messages
                guard let last = messages.last?.position.number, last < rest.upperBound else {
                    break
                }
                rest = (last + 1)...rest.upperBound
            }
        }
        return found
    }

    // MARK: - Messages of a conversation

    /// All positions of a conversation up to its last one; some may have no message, and some may be later than the
    /// event.
    mutating func positions(
        of id: Conversation.ID, at position: LogPosition
    ) throws -> IntervalSet {
        let last = try stored(id, at: position)?.lastPosition.number ?? 0
        return last > 0 ? IntervalSet(1...last) : IntervalSet()
    }

    /// The newest messages at positions of a conversation right after an event, newest first.
    mutating func messages(
        in id: Conversation.ID, at positions: IntervalSet, limit: Int, _ position: LogPosition
    ) throws -> [Message] {
        var found: [Message] = []
        for interval in positions.intervals.reversed() where found.count < limit {
            var rest = interval
            while found.count < limit {
                let messages = try messages(
                    in: id, at: rest, limit: limit - found.count, order: .descending, position)
                found += messages
                guard let last = messages.last?.position.number, last > rest.lowerBound else {
                    break
                }
                rest = rest.lowerBound...(last - 1)
            }
        }
        return found
    }

    /// The first messages in one range of positions right after an event, in the given order.
    ///
    /// The range may be very wide and have few messages, because an import may leave gaps. So messages are read from
    /// the index, and never position by position.
    private mutating func messages(
        in id: Conversation.ID, at range: ClosedRange<Int64>, notBy user: UserID? = nil, limit: Int,
        order: PositionOrder, _ position: LogPosition
    ) throws -> [Message] {
        // A merge preserves the order of a conversation's messages, so the first messages of each statement by current
        // positions are also the first by former ones.
        let selects = try merges.selects(at: IntervalSet(range), in: id, notBy: user, at: position)
        let ids = try selects.flatMap { select in
            try transaction.rows("\(select) ORDER BY position \(raw: order.sql) LIMIT \(limit)") {
                row in try row.id(0) as Message.ID
            }
        }
        try load(messages: Set(ids))
        let messages = try ids.compactMap { id in try message(id, at: position) }
        let sorted = messages.sorted { left, right in
            order == .ascending ? left.position < right.position : right.position < left.position
        }
        return Array(sorted.prefix(limit))
    }

    private enum PositionOrder {
        case ascending, descending

        var sql: StaticString { self == .ascending ? "ASC" : "DESC" }
    }

    /// The number of messages at positions of a conversation right after an event.
    ///
    /// - Parameter user: A user whose own messages are not counted.
    mutating func count(
        in id: Conversation.ID, at positions: IntervalSet, notBy user: UserID? = nil,
        _ position: LogPosition
    ) throws -> Int64 {
        let selects = try merges.selects(at: positions, in: id, notBy: user, at: position)
        return try selects.reduce(0) { count, select in
            count
                + (try transaction.first("SELECT COUNT(*) FROM (\(select)) AS found") { row in
                    try row.int64(0)
                } ?? 0)
        }
    }

    /// The positions whose messages were hidden from a participant right after an event.
    ///
    /// - Parameter range: The positions that the caller needs; others may be among the result.
    mutating func hidden(
        of owner: ReceiptOwner, within range: IntervalSet, at position: LogPosition
    ) throws -> IntervalSet {
        try former(.hidden(owner), at: position) { reader in try reader.intervals() }
            ?? transaction.hiddenPositions(of: owner, within: range, in: application)
    }

    /// The metadata that a former participant saw right after an event.
    mutating func frozenMetadata(
        of owner: ReceiptOwner, at position: LogPosition
    ) throws -> Metadata {
        try former(.frozenMetadata(owner), at: position) { reader in try Metadata(from: &reader) }
            ?? transaction.frozenMetadata(of: owner, in: application) ?? Metadata()
    }

    /// The conversation that an alias refers to now; `nil` when the id is no alias.
    func winner(of id: Conversation.ID) throws -> Conversation.ID? {
        try transaction.winner(of: id, in: application)
    }

    func requireUser(_ user: UserID) throws {
        try transaction.requireUser(user, in: application)
    }

    /// The ids of the messages at positions of a conversation right after an event.
    ///
    /// - Parameter user: A user whose own messages are left out.
    mutating func ids(
        at positions: IntervalSet, in id: Conversation.ID, notBy user: UserID? = nil,
        at position: LogPosition
    ) throws -> [Message.ID] {
        let selects = try merges.selects(at: positions, in: id, notBy: user, at: position)
        return try selects.flatMap { select in
            try transaction.rows(select) { row in try row.id(0) }
        }
    }

    /// Whether a message was sent by a participant. Of a wide conversation, that one only is read if possible.
    mutating func isFromParticipant(
        _ message: Message, at position: LogPosition
    ) throws -> Bool {
        guard let user = message.sender.userID else { return false }
        let id = message.conversation
        try load(conversations: [id])
        let isUnchanged =
            ends[.participants(id)].map { ends in ends.last.map { $0 <= position } ?? true }
            ?? false
        let isCurrent = unread.contains(id) && isUnchanged
        let participant =
            isCurrent
            ? try transaction.participant(user, in: id, in: application)
            : try participants(of: id, at: position).map(\.participant)
                .first { participant in participant.userID == user }
        return participant?.wasPresent(at: message.position) == true
    }
}

extension Conversation {
    /// The conversation without what messages change in it: of that no earlier states are stored, and no event shows it.
    fileprivate var withoutCounts: Conversation {
        var conversation = self
        conversation.lastPosition = .start
        conversation.lastSentAt = nil
        conversation.messageCount = 0
        conversation.isAnnounced = true
        return conversation
    }
}
