import Messaging
import SQL

extension Transaction {
    /// Messages with senders, recipients and their status, read in four statements, and up to four more for each wide
    /// conversation.
    func snapshots(
        of messages: [Message], seenBy perspective: Perspective = .system,
        in application: Application.ID
    ) throws -> [MessageSnapshot] {
        let viewer = perspective.user
        let sources = try sources(of: messages, in: application)
        var own: [Conversation.ID: ParticipantReceipts] = [:]
        for id in Set(sources.filter(\.isWide).map(\.message.conversation)) {
            guard let viewer, let participant = try participant(viewer, in: id, in: application)
            else { continue }
            own[id] = ParticipantReceipts(
                participant: participant,
                receipts: try receipts(
                    of: ReceiptOwner(conversation: id, user: viewer), in: application))
        }
        return sources.map { source in
            source.snapshot(seenBy: viewer, own[source.message.conversation])
        }
    }

    /// What the snapshots of messages have in common for all users, read in four statements, and up to two more for each
    /// wide conversation.
    func sources(
        of messages: [Message], in application: Application.ID
    ) throws -> [MessageSource] {
        guard !messages.isEmpty else { return [] }
        let conversations = Array(Set(messages.map(\.conversation)))
        // Participants of one conversation that left before its oldest message received none of them.
        let floor = conversations.count == 1 ? messages.map(\.position).min() ?? .start : .start
        let narrow = SQL.narrow(among: conversations, in: application)
        let queries = (
            wide: try queryWideConversations(among: conversations, in: application),
            receipts: try queryReceipts(in: narrow, in: application),
            participants: try queryParticipants(of: narrow, reachedFrom: floor, in: application),
            identities: try queryIdentities(
                of: Set(messages.compactMap(\.sender.userID)), in: application)
        )
        let receipts = Dictionary(try queries.receipts.rows()) { first, _ in first }
        let participants = Dictionary(
            grouping: try queries.participants.rows().sorted(by: PositionedParticipant.precedes),
            by: \.conversation
        ).mapValues { participants in
            participants.map { positioned in
                let owner = ReceiptOwner(
                    conversation: positioned.conversation, user: positioned.participant.userID)
                return ParticipantReceipts(
                    participant: positioned.participant, receipts: receipts[owner])
            }
        }
        let identities = Dictionary(
            try queries.identities.rows().map { identity in (identity.userID, identity) }
        ) { first, _ in first }
        let wide = Set(try queries.wide.rows())
        var counts: [Message.ID: RecipientCounts] = [:]
        for id in wide {
            counts.merge(
                try recipientCounts(
                    of: messages.filter { message in message.conversation == id }, in: application)
            ) { first, _ in first }
        }
        return messages.map { message in
            MessageSource(
                message, from: message.sender.userID.map(identities.identity),
                to: participants[message.conversation] ?? [],
                counted: wide.contains(message.conversation)
                    ? counts[message.id] ?? RecipientCounts() : nil)
        }
    }
}

/// What the snapshots of a message have in common, whichever user sees it.
struct MessageSource {
    let message: Message
    private let sender: BasicIdentity?
    /// The participants at the time of sending.
    private let participants: [ParticipantReceipts]
    private let recipients: [MessageSnapshot.Recipient]
    /// In a wide conversation, the number of recipients in each status.
    private let counts: RecipientCounts?

    /// - Parameters:
    ///   - participants: The participants of the conversation, in order; those at the time of sending are the
    ///     recipients. None have to be named of a wide conversation.
    ///   - counts: In a wide conversation, the number of recipients in each status.
    init(
        _ message: Message, from sender: BasicIdentity?, to participants: [ParticipantReceipts],
        counted counts: RecipientCounts? = nil
    ) {
        let present = participants.filter { entry in
            entry.participant.wasPresent(at: message.position)
        }
        self.message = message
        self.sender = sender
        self.participants = present
        recipients =
            counts != nil
            ? []
            : present.map { entry in
                let user = entry.participant.userID
                return MessageSnapshot.Recipient(
                    userID: user, status: message.status(of: user, entry.receipts))
            }
        self.counts = counts
    }

    /// Whether its conversation is wide (ruling 38).
    var isWide: Bool { counts != nil }

    /// The message as a user sees it.
    ///
    /// - Parameters:
    ///   - viewer: `nil` for the system.
    ///   - own: The participant that is the viewer, if it is not among the named ones.
    func snapshot(
        seenBy viewer: UserID?, _ own: ParticipantReceipts? = nil
    ) -> MessageSnapshot {
        let present = own.flatMap { own in
            own.participant.wasPresent(at: message.position) ? own : nil
        }
        let entry =
            present
            ?? viewer.flatMap { viewer in
                participants.first { entry in entry.participant.userID == viewer }
            }
        let isUnread = viewer.map { viewer in
            entry.map { entry in
                entry.participant.isInStay(message.position)
                    && message.status(of: viewer, entry.receipts) != .read
            } ?? false
        }
        return MessageSnapshot(
            message: message, sender: sender, recipients: recipients, recipientCounts: counts,
            isUnread: isUnread, receivedAt: entry == nil ? nil : message.sentAt)
    }
}

extension Transaction {
    /// Which of the conversations are wide (ruling 38).
    func wideConversations(
        among conversations: [Conversation.ID], in application: Application.ID
    ) throws -> Set<Conversation.ID> {
        Set(try queryWideConversations(among: conversations, in: application).rows())
    }

    /// Queries the same, without waiting for the rows.
    private func queryWideConversations(
        among conversations: [Conversation.ID], in application: Application.ID
    ) throws -> DeferredRows<Conversation.ID> {
        try query(
            """
            SELECT id FROM conversations
            WHERE application = \(application) AND id \(in: conversations) AND is_wide = 1
            """
        ) { row in try row.id(0) }
    }

    /// The number of recipients of messages with each status (ruling 38), of one conversation.
    ///
    /// Participants that took part and read alike are counted together, so the cost of a page is that of one
    /// message.
    func recipientCounts(
        of messages: [Message], in application: Application.ID
    ) throws -> [Message.ID: RecipientCounts] {
        guard let conversation = messages.first?.conversation else { return [:] }
        let groups = try rows(
            """
            SELECT MIN(p.user_id), p.past, p.joined_after, p.left_after, r.delivered, r.read,
                COUNT(*)
            FROM participants p
            LEFT JOIN receipts r ON r.application = p.application
                AND r.conversation = p.conversation AND r.user_id = p.user_id
            WHERE p.application = \(application) AND p.conversation = \(conversation)
            GROUP BY p.past, p.joined_after, p.left_after, r.delivered, r.read
            """
        ) { row in
            RecipientGroup(
                participant: Participant(
                    userID: try row.user(0), past: try row.intervals(1),
                    joinedAfter: try row.position(2), leftAfter: try row.optionalPosition(3)),
                receipts: try row.optionalText(4) == nil ? nil : Receipts(row, from: 4),
                count: try row.int64(6))
        }
        let senders = try senders(of: messages, in: conversation, in: application)
        return Dictionary(
            uniqueKeysWithValues: messages.map { message in
                var counts = RecipientCounts()
                for group in groups where group.participant.wasPresent(at: message.position) {
                    counts[(group.receipts ?? Receipts()).status(at: message.position)] +=
                        group.count
                }
                if let sender = message.sender.userID.flatMap({ user in senders[user] }),
                    sender.participant.wasPresent(at: message.position)
                {
                    counts[(sender.receipts ?? Receipts()).status(at: message.position)] -= 1
                    counts[.read] += 1
                }
                return (message.id, counts)
            })
    }

    /// The participants that sent messages of a conversation.
    private func senders(
        of messages: [Message], in conversation: Conversation.ID, in application: Application.ID
    ) throws -> [UserID: ParticipantReceipts] {
        let users = Set(messages.compactMap(\.sender.userID))
        guard !users.isEmpty else { return [:] }
        let found = try rows(
            "\(PositionedReceipts.sql(in: "\(conversation)", of: application)) AND p.user_id \(in: users)"
        ) { row in try PositionedReceipts(row) }
        return Dictionary(
            found.map { entry in
                let participant = entry.positioned.participant
                return (
                    participant.userID,
                    ParticipantReceipts(participant: participant, receipts: entry.receipts)
                )
            }
        ) { first, _ in first }
    }

    /// The current and former participants of a conversation in order, with their receipts.
    func participantReceipts(
        in conversation: Conversation.ID, in application: Application.ID
    ) throws -> [ParticipantReceipts] {
        try query(
            PositionedReceipts.sql(in: "\(conversation)", of: application),
            as: PositionedReceipts.cacheKey(of: conversation, in: application)
        ) { row in try PositionedReceipts(row) }
        .rows()
        .sorted { left, right in
            PositionedParticipant.precedes(left.positioned, right.positioned)
        }
        .map { entry in
            ParticipantReceipts(
                participant: entry.positioned.participant, receipts: entry.receipts)
        }
    }
}

/// A current or former participant with their index in the order of participants, and their receipts.
struct PositionedReceipts {
    let positioned: PositionedParticipant
    /// `nil` for none.
    let receipts: Receipts?

    /// The query for the participants of a conversation.
    ///
    /// - Parameter conversation: Its id, as an SQL expression.
    static func sql(in conversation: SQL, of application: Application.ID) -> SQL {
        """
        SELECT p.user_id, p.past, p.joined_after, p.left_after, p.state, p.cleared_to,
            p.conversation, p.place, r.delivered, r.read
        FROM participants p
        LEFT JOIN receipts r ON r.application = p.application
            AND r.conversation = p.conversation AND r.user_id = p.user_id
        WHERE p.application = \(application) AND p.conversation = \(conversation)
        """
    }

    init(_ row: borrowing Row) throws {
        positioned = try PositionedParticipant(row)
        receipts = try row.optionalText(8) == nil ? nil : Receipts(row, from: 8)
    }

    /// The cache key of all participants of a conversation with their receipts.
    static func cacheKey(
        of conversation: Conversation.ID, in application: Application.ID
    ) -> RowCacheKey<PositionedReceipts> {
        RowCacheKey(
            of: [
                .conversation(conversation, in: application, "participants"),
                .conversation(conversation, in: application, "receipts"),
                .allReceipts(of: conversation, in: application),
            ], aspect: Array("receipts".utf8))
    }
}

extension SQL {
    /// The condition that an id is that of a narrow conversation among some, without its left side (ruling 38).
    fileprivate static func narrow(
        among conversations: [Conversation.ID], in application: Application.ID
    ) -> SQL {
        """
        IN (
            SELECT id FROM conversations
            WHERE application = \(application) AND id \(in: conversations) AND is_wide = 0
        )
        """
    }
}

/// Participants that took part alike and have equal receipts.
private struct RecipientGroup {
    /// One of them.
    let participant: Participant
    /// `nil` for none.
    let receipts: Receipts?
    let count: Int64
}

/// A participant of a conversation, and the receipts of its messages.
struct ParticipantReceipts {
    let participant: Participant
    /// `nil` for none.
    let receipts: Receipts?
}

extension RecipientCounts {
    /// The recipients of a message among participants.
    init(of message: Message, _ participants: [ParticipantReceipts]) {
        self.init()
        for entry in participants where entry.participant.wasPresent(at: message.position) {
            self[message.status(of: entry.participant.userID, entry.receipts)] += 1
        }
    }
}

extension MutationContext {
    /// The snapshot of one message.
    func snapshot(
        of message: Message, seenBy perspective: Perspective = .system
    ) throws -> MessageSnapshot {
        guard
            let snapshot = try transaction.snapshots(
                of: [message], seenBy: perspective, in: application
            ).first
        else { throw StoreFault.unreadable("snapshot of a message") }
        return snapshot
    }
}

extension Message {
    /// The status of a recipient; for the sender it is always `read` (R71).
    func status(of user: UserID, _ receipts: Receipts?) -> RecipientStatus {
        sender.userID == user ? .read : (receipts ?? Receipts()).status(at: position)
    }
}
