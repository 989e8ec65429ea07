import Messaging
import SQL

// What events show.
extension ObjectHistory {
    /// A message with sender, recipients and their status, as right after an event.
    ///
    /// - Parameters:
    ///   - message: The message in its state right after the event.
    ///   - isJustSent: Whether the event is the sending of the message; then no receipts are read, because only the
    ///     sender has received it (R71).
    mutating func snapshot(
        of message: Message, isJustSent: Bool = false, seenBy perspective: Perspective = .system,
        at position: LogPosition
    ) throws -> MessageSnapshot {
        let conversation = try stored(message.conversation, at: position)
        if isJustSent, let conversation, conversation.isWide {
            return MessageSnapshot(
                message: message, sender: try sender(of: message, at: position), recipients: [],
                recipientCounts: RecipientCounts(
                    justSentTo: conversation.participantCount,
                    includingSender: try isFromParticipant(message, at: position)),
                isUnread: nil, receivedAt: nil)
        }
        var participants: [ParticipantReceipts] = []
        for found in try self.participants(of: message.conversation, at: position)
        where found.participant.wasPresent(at: message.position) {
            let owner = ReceiptOwner(
                conversation: message.conversation, user: found.participant.userID)
            participants.append(
                ParticipantReceipts(
                    participant: found.participant,
                    receipts: isJustSent ? nil : try receipts(of: owner, at: position)))
        }
        return MessageSource(
            message, from: try sender(of: message, at: position), to: participants,
            counted: conversation?.isWide == true
                ? RecipientCounts(of: message, participants) : nil
        ).snapshot(seenBy: perspective.user)
    }

    /// A deleted message in its last state, with the receipts recorded by its deletion.
    mutating func snapshot(
        of removed: MessageDeleted, at position: LogPosition
    ) throws -> MessageSnapshot {
        MessageSnapshot(
            message: removed.message, sender: try sender(of: removed.message, at: position),
            recipients: removed.recipients.map { recipient in
                MessageSnapshot.Recipient(userID: recipient.user, status: recipient.status)
            }, recipientCounts: removed.recipientCounts, isUnread: nil, receivedAt: nil)
    }

    private mutating func sender(
        of message: Message, at position: LogPosition
    ) throws -> BasicIdentity? {
        try message.sender.userID.map { user in try identity(of: user, at: position) }
    }

    /// A conversation with the identities of its participants right after an event.
    mutating func snapshot(
        of conversation: Conversation, at position: LogPosition
    ) throws -> ConversationSnapshot {
        let users = ConversationSnapshot.shown(
            conversation.participants, isWide: conversation.isWide)
        try load(users: Set(users))
        return ConversationSnapshot(
            conversation: conversation,
            participants: try users.map { user in
                try identity(of: user, at: position)
            })
    }
}
