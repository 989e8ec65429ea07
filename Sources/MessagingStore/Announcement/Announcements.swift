public import Messaging
import SQL

/// An announcement as the system sees it.
public struct AnnouncementSnapshot: Equatable, Sendable {
    /// The announcement.
    public let announcement: Announcement
    /// What is known of the sender; `nil` for a service that has only a name.
    public let sender: BasicIdentity?
    /// To whom, in the order of naming.
    public let recipients: [UserID]
}

/// An announcement as one of its recipients sees it: nothing of the others (R100).
public struct AnnouncementView: Equatable, Sendable {
    /// The announcement.
    public let announcement: Announcement
    /// What is known of the sender; `nil` for a service that has only a name.
    public let sender: BasicIdentity?
    /// What this recipient has made of it.
    public let status: RecipientStatus
}

extension MessagingStore {
    /// Makes an announcement.
    ///
    /// - Parameters:
    ///   - draft: What is to be said, and to whom.
    ///   - key: The `If-None-Match` key; it becomes the id unless the draft proposes one.
    /// - Throws: What `Announcement.making` rejects.
    public func announce(
        _ draft: Announcement.Draft, key: Replay.Key? = nil, in application: Application.ID
    ) async throws -> CreationOutcome<AnnouncementSnapshot> {
        let id = draft.proposedID ?? key.map(Announcement.ID.init) ?? environment.newID()
        let partIDs = draft.parts.map { _ in environment.newID() as MessagePart.ID }
        return try await change(in: application) { context in
            try context.announce(draft, as: id, key: key, partIDs: partIDs)
        }
    }
}

extension MutationContext {
    fileprivate func announce(
        _ draft: Announcement.Draft, as id: Announcement.ID, key: Replay.Key?,
        partIDs: [MessagePart.ID]
    ) throws -> CreationOutcome<AnnouncementSnapshot> {
        if let key, let made = try announcement(madeWith: key) { return .replayed(made) }
        if draft.proposedID != nil, let holder = try transaction.snapshot(of: id, in: application) {
            return .idInUse(holder)
        }
        let event = try Announcement.creating(
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

extension MessagingStore {
    /// An announcement as the system sees it.
    ///
    /// - Throws: `Rejection.notFound(.announcement)`.
    public func announcement(
        _ id: Announcement.ID, in application: Application.ID
    ) async throws -> AnnouncementSnapshot {
        try await database.read { transaction in
            guard let found = try transaction.snapshot(of: id, in: application) else {
                throw Rejection.notFound(.announcement)
            }
            return found
        }
    }

    /// An announcement as a recipient sees it.
    ///
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of an announcement that was
    ///   not for him or that he has deleted.
    public func announcement(
        _ id: Announcement.ID, seenBy user: UserID, in application: Application.ID
    ) async throws -> AnnouncementView {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let copy = try transaction.announcementCopy(id, for: user, in: application)
            guard let view = try transaction.views(of: [copy], in: application).first else {
                throw Rejection.notFound(.announcement)
            }
            return view
        }
    }

    /// A page of the announcements a user got and has not deleted, newest first.
    ///
    /// - Parameters:
    ///   - after: The item before the page, a newer one; `nil` for the first page.
    ///   - limit: Most items, from one.
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of an `after` that is not in
    ///   his list.
    public func announcements(
        for user: UserID, after: Announcement.ID? = nil, limit: Int,
        in application: Application.ID
    ) async throws -> ListPage<AnnouncementView> {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let place = try after.map { after in
                try transaction.announcementCopy(after, for: user, in: application)
            }
            let copies = try transaction.announcementCopies(
                for: user, after: place, limit: limit, in: application)
            return ListPage(
                items: try transaction.views(of: copies.items, in: application),
                total: try transaction.announcementCount(of: user, in: application),
                isCut: copies.isCut)
        }
    }
}

extension MessagingStore {
    /// Records that a recipient has received or read an announcement; what he has told already
    /// changes nothing (R72).
    ///
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of an announcement that was
    ///   not for him or that he has deleted.
    public func recordReceipt(
        _ kind: Receipts.Kind, of announcement: Announcement.ID, by user: UserID,
        in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            let copy = try context.transaction.announcementCopy(
                announcement, for: user, in: application)
            guard copy.status < kind.status else { return }
            try context.record(
                .announcementReceived(
                    AnnouncementReceived(
                        announcement: announcement, user: user, kind: kind, at: context.now)))
        }
    }

    /// Deletes a recipient's copy of an announcement; the others keep theirs (R100).
    ///
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of an announcement that was
    ///   not for him or that he has deleted already.
    public func deleteAnnouncement(
        _ announcement: Announcement.ID, for user: UserID, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            _ = try context.transaction.announcementCopy(
                announcement, for: user, in: application)
            try context.record(
                .announcementDeleted(announcement, for: user, at: context.now))
        }
    }
}

extension Receipts.Kind {
    /// What a recipient has made of a thing once this is told of it.
    var status: RecipientStatus {
        switch self {
        case .delivery: .delivered
        case .read: .read
        }
    }
}
