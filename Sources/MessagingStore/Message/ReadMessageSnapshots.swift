import Messaging
import SQL

extension Transaction {
    /// The snapshots of messages, in three statements.
    func snapshots(
        of messages: [Message], seenBy perspective: Perspective = .system,
        in application: Application.ID
    ) throws -> [MessageSnapshot] {
        let viewer = perspective.user
        guard !messages.isEmpty else { return [] }
        let conversations = Array(Set(messages.map(\.conversation)))
        // Participants of one conversation that left before its oldest message received none of them.
        let floor = conversations.count == 1 ? messages.map(\.position).min() ?? .start : .start
        let receipts = try receipts(in: conversations, in: application)
        let participants = Dictionary(
            grouping: try participants(of: conversations, reachedFrom: floor, in: application),
            by: \.conversation
        ).mapValues { participants in
            participants.map { positioned in
                let owner = ReceiptOwner(
                    conversation: positioned.conversation, user: positioned.participant.userID)
                return ParticipantReceipts(
                    participant: positioned.participant, receipts: receipts[owner])
            }
        }
        let identities = try identities(
            of: Set(messages.compactMap(\.sender.userID)), in: application)
        return messages.map { message in
            MessageSnapshot(
                message, from: message.sender.userID.map(identities.identity),
                to: participants[message.conversation] ?? [], seenBy: viewer)
        }
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
    /// The status of a recipient; the sender has read the message from the start (R71).
    func status(of user: UserID, _ receipts: Receipts?) -> RecipientStatus {
        sender.userID == user ? .read : (receipts ?? Receipts()).status(at: position)
    }
}
