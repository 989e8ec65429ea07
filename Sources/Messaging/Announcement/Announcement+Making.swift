extension Announcement {
    /// Decides an announcement: what to remember comes back as an event.
    ///
    /// - Parameters:
    ///   - hasIdentity: Whether a sending user has an identity.
    ///   - partIDs: Makes a name for each part that has none.
    ///   - key: The key under which the announcement is replayed.
    /// - Throws: `invalid` with the draft's sender property for a user without an identity.
    public static func making(
        _ draft: Draft, hasIdentity: Bool, as id: ID, partIDs: (Int) -> MessagePart.ID,
        key: Replay.Key? = nil, at now: Timestamp
    ) throws(Rejection) -> Event {
        guard draft.sender.userID == nil || hasIdentity else {
            throw .invalid(draft.senderProperty, .announcementSenderIdentity)
        }
        let parts = draft.parts.enumerated().map { index, part in
            MessagePart(
                id: part.proposedID ?? partIDs(index), index: index, mimeType: part.mimeType,
                body: part.body)
        }
        return .announcementSent(
            AnnouncementSent(
                announcement: Announcement(
                    id: id, sender: draft.sender, sentAt: now, parts: parts),
                recipients: draft.recipients, notification: draft.notification, key: key))
    }
}
