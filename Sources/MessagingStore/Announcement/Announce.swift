public import Messaging
import SQL

extension MessagingStore {
    /// Makes an announcement.
    ///
    /// - Parameters:
    ///   - draft: What is to be said, and to whom.
    ///   - key: The `If-None-Match` key; it becomes the id unless the draft proposes one.
    /// - Throws: What `Announcement.making` rejects.
    public func announce(
        _ draft: Announcement.Draft, key: Replay.Key? = nil, in application: Application.ID
    ) async throws -> Creation<AnnouncementSnapshot> {
        let id = draft.proposedID ?? key.map(Announcement.ID.init) ?? environment.newID()
        let partIDs = draft.parts.map { _ in environment.newID() as MessagePart.ID }
        return try await change(in: application) { recording in
            try recording.announce(draft, as: id, key: key, partIDs: partIDs)
        }
    }
}

extension Recording {
    fileprivate func announce(
        _ draft: Announcement.Draft, as id: Announcement.ID, key: Replay.Key?,
        partIDs: [MessagePart.ID]
    ) throws -> Creation<AnnouncementSnapshot> {
        if let key, let made = try announcement(madeWith: key) { return .replayed(made) }
        if draft.proposedID != nil, let holder = try transaction.snapshot(of: id, in: application) {
            return .idInUse(holder)
        }
        let event = try Announcement.making(
            draft, hasIdentity: try hasIdentity(draft.sender), as: id,
            partIDs: { index in partIDs[index] }, key: key, at: now)
        try record(event)
        guard let made = try transaction.snapshot(of: id, in: application) else {
            throw StoreFault.unreadable("announcement just made")
        }
        return .created(made)
    }

    /// What a key has made, or the announcement that bears it as its id (platform-api 1.9, rule 4).
    private func announcement(madeWith key: Replay.Key) throws -> AnnouncementSnapshot? {
        let made = try transaction.object(madeWith: key, as: .announcement, in: application)
        return try transaction.snapshot(
            of: made.flatMap(Announcement.ID.init) ?? Announcement.ID(key), in: application)
    }

    private func hasIdentity(_ sender: Sender) throws -> Bool {
        guard let user = sender.userID else { return false }
        return try transaction.hasIdentity(user, in: application)
    }
}
