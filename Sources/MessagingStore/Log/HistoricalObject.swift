import Messaging
import SQL

/// An object whose earlier states are stored as long as the events, so that an event can show it as it was (rulings
/// 27).
///
/// Each row of `object_history` is a state that ended, with the position of the event that ended it. The state
/// right after event P is the one ended by the first event after P, or else the one in the object's rows. That a message
/// was sent later needs no stored state: each message has the position of its event.
enum HistoricalObject: Hashable {
    /// A user's identity.
    case identity(UserID)
    /// A conversation without its participants.
    case conversation(Conversation.ID)
    /// The list of all current and former participants of a conversation.
    case participants(Conversation.ID)
    /// Some participants of a wide conversation, of which a change of one view must not store all.
    case someParticipants(Conversation.ID)
    /// The positions that a participant has received and read.
    case receipts(ReceiptOwner)
    /// A message with its parts and its position.
    case message(Message.ID)
    /// The positions whose messages are hidden from a participant.
    case hidden(ReceiptOwner)
    /// The metadata that a former participant sees (R14).
    case frozenMetadata(ReceiptOwner)

    /// The value of `object_history.object`: a byte for the kind, then the id.
    var key: [UInt8] {
        switch self {
        case .identity(let user): [1] + Array(user.text.utf8)
        case .conversation(let id): [2] + id.bytes
        case .participants(let id): [3] + id.bytes
        case .receipts(let owner): [4] + owner.key
        case .message(let id): [5] + id.bytes
        case .hidden(let owner): [6] + owner.key
        case .frozenMetadata(let owner): [7] + owner.key
        case .someParticipants(let id): [8] + id.bytes
        }
    }
}

extension ReceiptOwner {
    fileprivate var key: [UInt8] { conversation.bytes + Array(user.text.utf8) }
}

// Each function stores the state of an object before an event changes it, in the transaction of the event. An object
// that did not exist has an empty state. If one event changes an object several times, the first state is stored.
extension Projection {
    func saveIdentity(of user: UserID) throws {
        let before = try transaction.user(user, in: application)
        save(.identity(user)) { writer in before?.writeState(to: &writer) }
    }

    /// Stores that a user did not exist.
    func saveAbsence(of user: UserID) {
        save(.identity(user)) { _ in }
    }

    /// - Parameter conversation: Its state before the change.
    func save(_ conversation: Conversation) {
        save(.conversation(conversation.id)) { writer in
            var conversation = conversation
            conversation.participants = Participants([])
            conversation.write(to: &writer)
        }
    }

    /// Stores that a conversation did not exist.
    func saveAbsence(of id: Conversation.ID) {
        save(.conversation(id)) { _ in }
    }

    func saveConversation(_ id: Conversation.ID) throws {
        guard let before = try transaction.queryLocked(id, in: application).first() else { return }
        save(before)
    }

    func saveParticipants(of id: Conversation.ID) throws {
        save(
            try transaction.participants(of: [id], reachedFrom: .start, in: application),
            as: .participants(id))
    }

    /// Stores the states of participants before a change of their views, once for each event.
    func saveParticipants(_ users: [UserID], of id: Conversation.ID) throws {
        guard try transaction.queryLocked(id, in: application).first()?.isWide == true else {
            return try saveParticipants(of: id)
        }
        save(
            try users.chunks(of: 4096).flatMap { chunk in
                try transaction.participants(chunk, of: id, in: application)
            }, as: .someParticipants(id))
    }

    private func save(_ participants: [PositionedParticipant], as object: HistoricalObject) {
        save(object) { writer in
            writer.write(each: participants) { writer, entry in entry.write(to: &writer) }
        }
    }

    /// - Parameter receipts: Their state before the change.
    func save(_ receipts: Receipts, of owner: ReceiptOwner) {
        save(.receipts(owner)) { writer in receipts.writeState(to: &writer) }
    }

    /// - Parameter message: Its state before the change.
    func save(_ message: Message) {
        save(.message(message.id)) { writer in message.write(to: &writer) }
    }

    func saveHiddenPositions(of owner: ReceiptOwner) throws {
        save(
            try transaction.hiddenPositions(
                of: owner, within: IntervalSet(1...Int64.max), in: application),
            hiddenFrom: owner)
    }

    private func save(_ positions: IntervalSet, hiddenFrom owner: ReceiptOwner) {
        save(.hidden(owner)) { writer in writer.write(positions) }
    }

    func saveFrozenMetadata(of owner: ReceiptOwner) throws {
        guard let before = try transaction.frozenMetadata(of: owner, in: application) else {
            return
        }
        save(.frozenMetadata(owner)) { writer in before.write(to: &writer) }
    }

    /// Stores the whole state of a conversation that is about to be deleted or merged, except its messages and hidden
    /// positions.
    func saveWholeConversation(_ id: Conversation.ID) throws {
        try saveConversation(id)
        try saveParticipants(of: id)
        for (owner, receipts) in try transaction.receipts(in: [id], in: application) {
            save(receipts, of: owner)
        }
        for entry in try transaction.participants(
            of: [id], reachedFrom: .start, in: application)
        where entry.participant.isFormer {
            try saveFrozenMetadata(
                of: ReceiptOwner(conversation: id, user: entry.participant.userID))
        }
    }

    /// Stores the hidden positions of participants, before a merge changes them. Deleting a conversation does not
    /// delete their rows.
    ///
    /// - Parameter users: `nil` for all participants.
    func saveHiddenPositions(in id: Conversation.ID, of users: Set<UserID>?) throws {
        let rows = try transaction.rows(
            """
            SELECT user_id, position FROM hidden_messages
            WHERE application = \(application) AND conversation = \(id)
            """
        ) { row in (user: try row.user(0), position: try row.int64(1)) }
        let hidden = Dictionary(grouping: rows, by: \.user)
        for entry in try transaction.participants(
            of: [id], reachedFrom: .start, in: application)
        where users?.contains(entry.participant.userID) ?? true {
            let user = entry.participant.userID
            save(
                IntervalSet((hidden[user] ?? []).map { row in row.position...row.position }),
                hiddenFrom: ReceiptOwner(conversation: id, user: user))
        }
    }

    private func save(_ object: HistoricalObject, _ write: (inout ByteWriter) -> Void) {
        var writer = ByteWriter()
        write(&writer)
        transaction.add(
            "(\(application), \(object.key), \(position), \(writer.bytes))",
            to: "object_history", keys: application.bytes + object.key,
            by: Self.history)
    }

    private static let history = Insertion(
        "INSERT INTO object_history (application, object, until, state) VALUES",
        "ON CONFLICT (application, object, until) DO NOTHING")
}

extension Transaction {
    /// The metadata that a former participant sees; `nil` for a current participant.
    func frozenMetadata(
        of owner: ReceiptOwner, in application: Application.ID
    ) throws -> Metadata? {
        try first(
            """
            SELECT frozen_metadata FROM participants
            WHERE application = \(application) AND conversation = \(owner.conversation)
                AND user_id = \(owner.user) AND frozen_metadata IS NOT NULL
            """
        ) { row in try row.metadata(0) }
    }

    /// Tables that only readers of the log use; their rows are trimmed with the events.
    static let historyTables: [(name: StaticString, position: StaticString)] = [
        ("object_history", "until"), ("deleted_messages", "event"),
    ]

    /// Deletes the rows that only readers of events up to a position need.
    func trimHistory(through last: LogPosition, in application: Application.ID) throws {
        for table in Self.historyTables {
            try execute(
                """
                DELETE FROM \(raw: table.name)
                WHERE application = \(application) AND \(raw: table.position) <= \(last)
                """)
        }
    }
}

// MARK: - Coding

extension User {
    /// The user as events show it: the identity, and whether there is one.
    fileprivate func writeState(to writer: inout ByteWriter) {
        identity.write(to: &writer)
        writer.write(knownIdentity != nil)
    }
}

/// A user's identity at an earlier position.
struct FormerIdentity {
    /// The identity; without names if none were provided.
    let identity: Identity
    /// Whether the user had an identity.
    let isKnown: Bool

    init(identity: Identity, isKnown: Bool) {
        self.identity = identity
        self.isKnown = isKnown
    }

    init(from reader: inout ByteReader) throws {
        identity = try Identity(from: &reader)
        isKnown = try reader.flag()
    }
}

extension PositionedParticipant {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(place)
        writer.write(participant.userID)
        writer.write(participant.past)
        writer.write(participant.joinedAfter)
        writer.write(optional: participant.leftAfter) { writer, last in writer.write(last) }
        writer.write(participant.state.rawValue)
        writer.write(participant.clearedTo)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), place: try reader.number(),
            participant: Participant(
                userID: try reader.user(), past: try reader.intervals(),
                joinedAfter: try reader.position(),
                leftAfter: try reader.optional { reader in try reader.position() },
                state: try reader.valid(
                    ViewState(rawValue: try reader.text()), "state of a participant"),
                clearedTo: try reader.position()))
    }
}

extension Receipts {
    fileprivate func writeState(to writer: inout ByteWriter) {
        writer.write(delivered)
        writer.write(read)
    }

    init(from reader: inout ByteReader) throws {
        self.init(delivered: try reader.intervals(), read: try reader.intervals())
    }
}

// A receipt stores all intervals of its participant, so they are written as the distances between their bounds, which
// are smaller than the text of a set, and faster to write.
extension ByteWriter {
    fileprivate mutating func write(_ set: IntervalSet) {
        var last: Int64 = 0
        write(each: set.intervals) { writer, interval in
            writer.write(interval.lowerBound - last)
            writer.write(interval.upperBound - interval.lowerBound)
            last = interval.upperBound
        }
    }
}

extension ByteReader {
    mutating func intervals() throws -> IntervalSet {
        var last: Int64 = 0
        return IntervalSet(
            try each { reader in
                let low = last &+ (try reader.number())
                let high = low &+ (try reader.number())
                guard last < low, low <= high else {
                    throw StoreFault.unreadable("intervals in payload")
                }
                last = high
                return low...high
            })
    }
}

// MARK: - Erasing

extension ErasedPayloads {
    /// Whether a row of `object_history` names the user, and the row without the user.
    func state(
        of object: [UInt8], _ state: [UInt8]
    ) throws -> (namesUser: Bool, object: [UInt8], state: [UInt8]) {
        let name = Array(user.text.utf8)
        let isOfUser = object.dropFirst(object.first == 1 ? 1 : 17).elementsEqual(name)
        guard let kind = object.first, !state.isEmpty else {
            return (isOfUser, renamed(object, isOfUser), state)
        }
        var writer = ByteWriter()
        var namesUser = false
        switch kind {
        case 1:
            let found = try decode(state) { reader in try FormerIdentity(from: &reader) }
            namesUser = found.namesUser
            if namesUser {
                Identity(userID: erased).write(to: &writer)
                writer.write(false)
            }
        case 2:
            let found = try decode(state) { reader in try Conversation(from: &reader) }
            namesUser = found.namesUser
            found.value.write(to: &writer)
        case 3, 8:
            let found = try decode(state) { reader in
                try reader.each { reader in try PositionedParticipant(from: &reader) }
            }
            namesUser = found.namesUser
            writer.write(each: found.value) { writer, entry in entry.write(to: &writer) }
        case 5:
            let found = try decode(state) { reader in try Message(from: &reader) }
            namesUser = found.namesUser
            reduced(found.value).write(to: &writer)
        default: break
        }
        return (
            namesUser || isOfUser, renamed(object, isOfUser), namesUser ? writer.bytes : state
        )
    }

    private func renamed(_ object: [UInt8], _ isOfUser: Bool) -> [UInt8] {
        guard isOfUser else { return object }
        return Array(object.dropLast(user.text.utf8.count)) + Array(erased.text.utf8)
    }
}
