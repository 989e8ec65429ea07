import Messaging
import SQL

extension Transaction {
    /// Messages with senders, recipients and their status, read in three statements.
    func snapshots(
        of messages: [Message], seenBy perspective: Perspective = .system,
        in application: Application.ID
    ) throws -> [MessageSnapshot] {
        let viewer = perspective.user
        guard !messages.isEmpty else { return [] }
        let conversations = Array(Set(messages.map(\.conversation)))
        // Participants of one conversation that left before its oldest message received none of them.
        let floor = conversations.count == 1 ? messages.map(\.position).min() ?? .start : .start
        let asked = (
            receipts: try askReceipts(in: conversations, in: application),
            participants: try askParticipants(
                of: conversations, reachedFrom: floor, in: application),
            identities: try askIdentities(
                of: Set(messages.compactMap(\.sender.userID)), in: application)
        )
        let receipts = Dictionary(try asked.receipts.rows()) { first, _ in first }
        let participants = Dictionary(
            grouping: try asked.participants.rows().sorted(by: PositionedParticipant.precedes),
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
            try asked.identities.rows().map { identity in (identity.userID, identity) }
        ) { first, _ in first }
        return messages.map { message in
            MessageSnapshot(
                message, from: message.sender.userID.map(identities.identity),
                to: participants[message.conversation] ?? [], seenBy: viewer)
        }
    }
}

extension Transaction {
    /// The current and former participants of a conversation in order, with their receipts.
    func participantReceipts(
        in conversation: Conversation.ID, in application: Application.ID
    ) throws -> [ParticipantReceipts] {
        try ask(
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
    fileprivate let positioned: PositionedParticipant
    /// `nil` for none.
    fileprivate let receipts: Receipts?

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
        positioned = PositionedParticipant(
            conversation: try row.id(6), place: try row.int64(7), participant: try Participant(row))
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

/// A participant of a conversation, and the receipts of its messages.
struct ParticipantReceipts {
    let participant: Participant
    /// `nil` for none.
    let receipts: Receipts?
}

extension MessageSnapshot {
    /// A message with the status of its recipients.
    ///
    /// - Parameters:
    ///   - participants: The participants of the conversation, in order; those at the time of sending are the
    ///     recipients.
    ///   - viewer: The user that reads it; `nil` for the system.
    init(
        _ message: Message, from sender: BasicIdentity?, to participants: [ParticipantReceipts],
        seenBy viewer: UserID?
    ) {
        var own: Participant?
        var recipients: [Recipient] = []
        recipients.reserveCapacity(participants.count)
        for entry in participants where entry.participant.wasPresent(at: message.position) {
            let user = entry.participant.userID
            if user == viewer { own = entry.participant }
            recipients.append(
                Recipient(userID: user, status: message.status(of: user, entry.receipts)))
        }
        let isUnread = viewer.map { viewer in
            own?.isInStay(message.position) == true
                && recipients.contains { recipient in
                    recipient.userID == viewer && recipient.status != .read
                }
        }
        self.init(
            message: message, sender: sender, recipients: recipients, isUnread: isUnread,
            receivedAt: own == nil ? nil : message.sentAt)
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
