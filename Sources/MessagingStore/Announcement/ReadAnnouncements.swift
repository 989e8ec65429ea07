public import Messaging
import SQL

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
    ) async throws -> Page<AnnouncementView> {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let place = try after.map { after in
                try transaction.announcementCopy(after, for: user, in: application)
            }
            let copies = try transaction.announcementCopies(
                for: user, after: place, limit: limit, in: application)
            return Page(
                items: try transaction.views(of: copies.items, in: application),
                total: try transaction.announcementCount(of: user, in: application),
                isCut: copies.isCut)
        }
    }
}
