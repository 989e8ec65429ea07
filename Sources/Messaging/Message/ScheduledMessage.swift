/// A message that will be sent later. It is not visible, and has no position and no time of sending yet.
public struct ScheduledMessage: Equatable, Sendable {
    /// The id that it will have, which is reserved for it.
    public let id: Message.ID
    /// The conversation that it will be sent to, unless the conversation has been deleted by then.
    public let conversation: Conversation.ID
    /// The draft; every part has the id that it will have.
    public let draft: Message.Draft
    /// The moment when it is due.
    public let dueAt: Timestamp
    /// The moment from which its sender is shown as typing; `nil` for never.
    public let typingFrom: Timestamp?

    /// A message as stored.
    public init(
        id: Message.ID, conversation: Conversation.ID, draft: Message.Draft, dueAt: Timestamp,
        typingFrom: Timestamp?
    ) {
        self.id = id
        self.conversation = conversation
        self.draft = draft
        self.dueAt = dueAt
        self.typingFrom = typingFrom
    }
}

/// The time at which a message is to be sent (platform-api §5.2.1).
public struct Schedule: Equatable, Sendable {
    /// The allowed delays and times of typing, in milliseconds.
    private static let range: ClosedRange<Int64> = 1000...300_000

    /// The delay before sending, in milliseconds.
    public let delay: Int64
    /// The time before sending during which the sender is shown as typing, in milliseconds; `nil` for none.
    public let typing: Int64?

    /// Validates a schedule.
    ///
    /// - Throws: `invalid` with the member that is out of its range: the delay is 1 to 300 s, the typing time 1 s to
    ///   the delay.
    public init(delay: Int64, typing: Int64? = nil) throws(Rejection) {
        guard Self.range.contains(delay) else {
            throw .invalid("schedule.delay_in_seconds", .scheduleDelay)
        }
        guard typing.map({ (Self.range.lowerBound...delay).contains($0) }) ?? true else {
            throw .invalid("schedule.typing_indicator_in_seconds", .scheduleTyping)
        }
        self.delay = delay
        self.typing = typing
    }
}

extension Message {
    /// The maximum number of messages of one batch (platform-api §5.2.1).
    public static let batchLimit = 12

    /// A message of a batch.
    public struct BatchItem: Equatable, Sendable {
        /// The draft.
        public let draft: Message.Draft
        /// The schedule; `nil` to send it at once.
        public let schedule: Schedule?

        /// A message to send.
        public init(_ draft: Message.Draft, _ schedule: Schedule? = nil) {
            self.draft = draft
            self.schedule = schedule
        }
    }
}

extension Conversation {
    /// Returns the event of scheduling a message, which must be valid now as well as when it is due.
    ///
    /// - Parameters:
    ///   - draft: The message.
    ///   - schedule: The time of sending.
    ///   - hasIdentity: Whether a sending user has an identity.
    ///   - contents: The contents that the draft may attach.
    ///   - id: The id of the message, which is reserved for it.
    ///   - partIDs: Creates an id for each part that has none.
    ///   - key: The `If-None-Match` key of the message.
    /// - Throws: As `posting`.
    public func scheduling(
        _ draft: Message.Draft, for schedule: Schedule, hasIdentity: Bool,
        contents: [Content.ID: Content], _ limits: MessagingLimits, as id: Message.ID,
        partIDs: (Int) -> MessagePart.ID,
        key: Replay.Key? = nil, at now: Timestamp
    ) throws(Rejection) -> Event {
        _ = try posting(
            draft, hasIdentity: hasIdentity, contents: contents, limits, as: id, partIDs: partIDs,
            at: now)
        let isParticipant = draft.sender.userID.map(participants.contains) ?? false
        var parts: [MessagePart.Draft] = []
        for (index, part) in draft.parts.enumerated() {
            parts.append(
                try MessagePart.Draft(
                    mimeType: part.mimeType, body: part.body,
                    proposedID: part.proposedID ?? partIDs(index)))
        }
        let dueAt = Timestamp(milliseconds: now.milliseconds + schedule.delay)
        return .messageScheduled(
            MessageScheduled(
                message: ScheduledMessage(
                    id: id, conversation: self.id,
                    draft: try Message.Draft(
                        sender: draft.sender,
                        // A sender that is a participant now must still be one when the message is due.
                        admission: isParticipant ? .participants : draft.admission,
                        senderProperty: draft.senderProperty, parts: parts,
                        notification: draft.notification, proposedID: id),
                    dueAt: dueAt,
                    typingFrom: schedule.typing.map { typing in
                        Timestamp(milliseconds: dueAt.milliseconds - typing)
                    }), key: key))
    }
}
