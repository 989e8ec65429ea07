/// A message that will be sent later. It is not visible, and has no position and no time of sending yet.
public struct ScheduledMessage: Equatable, Sendable {
    /// The name it will have, promised to it from now on.
    public let id: Message.ID
    /// Where it will go, unless that is deleted by then.
    public let conversation: Conversation.ID
    /// The draft; every part has the id that it will have.
    public let draft: Message.Draft
    /// When it is due.
    public let dueAt: Timestamp
    /// From when on its sender shows as typing.
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

/// When a message shall be sent (platform-api §5.2.1).
public struct Schedule: Equatable, Sendable {
    /// The shortest and the longest delay, and time of typing, in milliseconds.
    private static let range: ClosedRange<Int64> = 1000...300_000

    /// How long to wait before sending, in milliseconds.
    public let delay: Int64
    /// How long before sending the sender shows as typing, in milliseconds; `nil` for not at all.
    public let typing: Int64?

    /// - Throws: `invalid` with the member out of its range: 1 to 300 s, typing also at most the
    ///   delay.
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
    /// Most messages of one batch (platform-api §5.2.1).
    public static let batchLimit = 12

    /// A message of a batch: what shall be sent, and when.
    public struct BatchItem: Equatable, Sendable {
        /// What.
        public let draft: Message.Draft
        /// When; `nil` for now.
        public let schedule: Schedule?

        /// A message to send.
        public init(_ draft: Message.Draft, _ schedule: Schedule? = nil) {
            self.draft = draft
            self.schedule = schedule
        }
    }
}

extension Conversation {
    /// Decides a post that waits: what could not be sent now is refused now.
    ///
    /// - Parameters:
    ///   - draft: What is to be sent.
    ///   - schedule: When.
    ///   - hasIdentity: Whether a sending user has an identity.
    ///   - contents: The contents the draft attaches, those that exist.
    ///   - id: The message's name, promised to it from now on.
    ///   - partIDs: Makes a name for each part that has none.
    ///   - key: The key under which the scheduling is replayed.
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
        let takesPart = draft.sender.userID.map(participants.contains) ?? false
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
                        // A sender that takes part now must still take part then.
                        admission: takesPart ? .participants : draft.admission,
                        senderProperty: draft.senderProperty, parts: parts,
                        notification: draft.notification, proposedID: id),
                    dueAt: dueAt,
                    typingFrom: schedule.typing.map { typing in
                        Timestamp(milliseconds: dueAt.milliseconds - typing)
                    }), key: key))
    }
}
