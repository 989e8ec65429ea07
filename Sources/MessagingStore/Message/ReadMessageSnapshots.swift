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
        let participants = Dictionary(
            grouping: try participants(
                of: conversations, reachedFrom: floor, in: application
            )
            .sorted(by: PositionedParticipant.precedes),
            by: \.conversation)
        let receipts = try receipts(in: conversations, in: application)
        let identities = try identities(
            of: Set(messages.compactMap(\.sender.userID)), in: application)
        return messages.map { message in
            let present = (participants[message.conversation] ?? []).map(\.participant)
                .filter { participant in participant.wasPresent(at: message.position) }
            return MessageSnapshot(
                message, from: message.sender.userID.map(identities.identity), to: present,
                seenBy: viewer
            ) { user in
                receipts[ReceiptOwner(conversation: message.conversation, user: user)]
            }
        }
    }
}

extension MessageSnapshot {
    /// A message with the status of its recipients.
    ///
    /// - Parameters:
    ///   - present: The participants at the time of sending, in order.
    ///   - viewer: The user that reads it; `nil` for the system.
    ///   - receipts: The receipts of a participant.
    init<Fault: Error>(
        _ message: Message, from sender: BasicIdentity?, to present: [Participant],
        seenBy viewer: UserID?, _ receipts: (UserID) throws(Fault) -> Receipts?
    ) throws(Fault) {
        let own = present.first { participant in participant.userID == viewer }
        var recipients: [Recipient] = []
        for participant in present {
            recipients.append(
                Recipient(
                    userID: participant.userID,
                    status: message.status(
                        of: participant.userID, try receipts(participant.userID))))
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

extension PositionedParticipant {
    /// Current participants in order. Former ones may share an index, so their ids decide.
    static func precedes(_ left: PositionedParticipant, _ right: PositionedParticipant) -> Bool {
        (left.place, left.participant.userID) < (right.place, right.participant.userID)
    }
}

extension Message {
    /// The status of a recipient; the sender has read the message from the start (R71).
    func status(of user: UserID, _ receipts: Receipts?) -> RecipientStatus {
        sender.userID == user ? .read : (receipts ?? Receipts()).status(at: position)
    }
}
