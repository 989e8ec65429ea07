extension Conversation {
    /// Decides a post: what to remember comes back as an event, and nothing is written here.
    ///
    /// - Parameters:
    ///   - draft: What somebody wants to send.
    ///   - hasIdentity: Whether a sending user has an identity.
    ///   - contents: The contents the draft attaches, those that exist.
    ///   - id: The message's name.
    ///   - partIDs: Makes a name for each part that has none.
    ///   - key: The key under which the sending is replayed.
    /// - Throws: `objectDeleted`; `invalid` with the draft's sender property for a user who may not
    ///   send (rulings 10); `invalid("parts.content")` for a content that is not complete or
    ///   belongs elsewhere (R24); `invalid("parts.id")` for two parts of one id;
    ///   `invalid("parts")` for more bytes than the limits allow (R23).
    public func posting(
        _ draft: Message.Draft, hasIdentity: Bool, contents: [Content.ID: Content],
        _ limits: MessagingLimits, as id: Message.ID, partIDs: (Int) -> MessagePart.ID,
        key: Replay.Key? = nil, at now: Timestamp
    ) throws(Rejection) -> Event {
        guard deletedAt == nil else { throw .objectDeleted }
        try admit(draft, hasIdentity: hasIdentity)
        var parts: [MessagePart] = []
        parts.reserveCapacity(draft.parts.count)
        for (index, part) in draft.parts.enumerated() {
            parts.append(
                MessagePart(
                    id: part.proposedID ?? partIDs(index), index: index, mimeType: part.mimeType,
                    body: try part.body(from: contents, in: self.id)))
        }
        let message = Message(
            id: id, conversation: self.id, position: lastPosition.next, sender: draft.sender,
            sentAt: max(now, lastSentAt ?? now), parts: parts)
        try message.checkParts(limits)
        return .messageSent(
            MessageSent(message: message, notification: draft.notification, key: key))
    }

    private func admit(_ draft: Message.Draft, hasIdentity: Bool) throws(Rejection) {
        guard let user = draft.sender.userID, !participants.contains(user) else { return }
        switch draft.admission {
        case .participants: throw .invalid(draft.senderProperty, .senderParticipant)
        case .identities:
            guard hasIdentity else { throw .invalid(draft.senderProperty, .senderIdentity) }
        }
    }
}
