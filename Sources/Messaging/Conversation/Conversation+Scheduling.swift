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
                        // Who takes part now must still do so then; whoever need not, need not.
                        admission: takesPart ? .participants : draft.admission,
                        senderProperty: draft.senderProperty, parts: parts,
                        notification: draft.notification, proposedID: id),
                    dueAt: dueAt,
                    typingFrom: schedule.typing.map { typing in
                        Timestamp(milliseconds: dueAt.milliseconds - typing)
                    }), key: key))
    }
}
