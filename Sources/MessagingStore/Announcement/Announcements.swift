public import Messaging
import SQL

/// An announcement as the system sees it.
public struct AnnouncementSnapshot: Equatable, Sendable {
    /// The announcement.
    public let announcement: Announcement
    /// The identity of the sender; `nil` for a service, which has only a name.
    public let sender: BasicIdentity?
    /// The recipients, in the order of the request.
    public let recipients: [UserID]
}

/// An announcement as one recipient sees it, without the other recipients (R100).
public struct AnnouncementView: Equatable, Sendable {
    /// The announcement.
    public let announcement: Announcement
    /// The identity of the sender; `nil` for a service, which has only a name.
    public let sender: BasicIdentity?
    /// The status of this recipient.
    public let status: RecipientStatus
}

extension MessagingStore {
    /// Creates an announcement.
    ///
    /// - Parameters:
    ///   - draft: The announcement and its recipients.
    ///   - key: The `If-None-Match` key; it becomes the id unless the draft proposes one.
    /// - Throws: What `Announcement.creating` rejects.
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
        if let key, let made = try announcement(createdWith: key) { return .replayed(made) }
        if draft.proposedID != nil, let holder = try transaction.snapshot(of: id, in: application) {
            return .idInUse(holder)
        }
        let event = try Announcement.creating(
            draft, hasIdentity: try hasIdentity(draft.sender), as: id,
            partIDs: { index in partIDs[index] }, key: key, at: now)
        try record(event)
        guard let made = try transaction.snapshot(of: id, in: application) else {
            throw StoreFault.unreadable("announcement just created")
        }
        return .created(made)
    }

    /// The announcement that was created with a key, or that has it as its id (platform-api 1.9, rule 4).
    private func announcement(createdWith key: Replay.Key) throws -> AnnouncementSnapshot? {
        let made = try transaction.object(createdWith: key, as: .announcement, in: application)
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
    /// - Throws: `Rejection.notFound` of an unknown user, or of an announcement of which the user is no
    ///   recipient or that they have deleted.
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

    /// A page of the announcements that a user has received and not deleted, newest first.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    /// - Throws: `Rejection.notFound` of an unknown user, or of an `after` that is not in their list.
    public func announcements(
        for user: UserID, after: Announcement.ID? = nil, limit: Int,
        in application: Application.ID
    ) async throws -> ListPage<AnnouncementView> {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let last = try after.map { after in
                let copy = try transaction.announcementCopy(after, for: user, in: application)
                return (time: copy.sentAt, id: copy.announcement.bytes)
            }
            let copies = try transaction.announcementCopies(
                for: user, after: last, limit: limit, in: application)
            return ListPage(
                items: try transaction.views(of: copies.items, in: application),
                total: try transaction.announcementCount(of: user, in: application),
                isCut: copies.isCut)
        }
    }
}

extension MessagingStore {
    /// Records that a recipient has received or read an announcement; a known receipt changes nothing (R72).
    ///
    /// - Throws: `Rejection.notFound` of an unknown user, or of an announcement of which the user is no
    ///   recipient or that they have deleted.
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

    /// Deletes an announcement for one recipient; the other recipients still see it (R100).
    ///
    /// - Throws: `Rejection.notFound` of an unknown user, or of an announcement of which the user is no
    ///   recipient or that they have already deleted.
    public func deleteAnnouncement(
        _ announcement: Announcement.ID, for user: UserID, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            _ = try context.transaction.announcementCopy(
                announcement, for: user, in: application)
            try context.record(
                .announcementDeleted(
                    AnnouncementDeleted(
                        announcement: announcement, user: user, at: context.now)))
        }
    }
}

extension Receipts.Kind {
    /// The status of a recipient after this receipt.
    var status: RecipientStatus {
        switch self {
        case .delivery: .delivered
        case .read: .read
        }
    }
}
