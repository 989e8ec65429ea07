public import Messaging

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
        try await change(in: application) { recording in
            try recording.transaction.requireUser(user, in: application)
            let copy = try recording.transaction.announcementCopy(
                announcement, for: user, in: application)
            guard copy.status < kind.status else { return }
            try recording.record(
                .announcementReceived(
                    AnnouncementReceived(
                        announcement: announcement, user: user, kind: kind, at: recording.now)))
        }
    }

    /// Deletes a recipient's copy of an announcement; the others keep theirs (R100).
    ///
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of an announcement that was
    ///   not for him or that he has deleted already.
    public func deleteAnnouncement(
        _ announcement: Announcement.ID, for user: UserID, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            try recording.transaction.requireUser(user, in: application)
            _ = try recording.transaction.announcementCopy(
                announcement, for: user, in: application)
            try recording.record(
                .announcementDeleted(announcement, for: user, at: recording.now))
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
