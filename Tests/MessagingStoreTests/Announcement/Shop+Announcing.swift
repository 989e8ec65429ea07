import Messaging

@testable import MessagingStore

extension Shop {
    @discardableResult
    func announce(
        _ text: String = "closed", by sender: Sender = .named("Shop"),
        to users: [UserID] = [.ana, .bo], id: Announcement.ID? = nil, key: Replay.Key? = nil
    ) async throws -> Creation<AnnouncementSnapshot> {
        try await store.announce(
            Announcement.Draft(
                recipients: users, sender: sender,
                parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))],
                notification: Array(#"{"text":"news"}"#.utf8), proposedID: id),
            key: key, in: application)
    }

    /// A user's announcements, newest first.
    func announcements(for user: UserID, limit: Int = 100) async throws -> [Announcement.ID] {
        try await store.announcements(for: user, limit: limit, in: application).items
            .map(\.announcement.id)
    }

    func notify(_ users: [UserID] = [.ana], key: Replay.Key? = nil) async throws {
        try await store.notify(
            PushNotification.Draft(
                recipients: users, notification: Array(#"{"text":"dinner"}"#.utf8)),
            key: key, in: application)
    }

    /// Announcements and notifications, and what becomes of them.
    func tell() async throws {
        let made = try await announce(key: .sample(21)).object.announcement.id
        try await announce(by: .user(.cy), to: [.cy, .named("eve")])
        try await store.recordReceipt(.delivery, of: made, by: .bo, in: application)
        try await store.recordReceipt(.read, of: made, by: .bo, in: application)
        try await store.deleteAnnouncement(made, for: .ana, in: application)
        try await notify([.named("fay"), .ana], key: .sample(22))
        wait(milliseconds: PushNotification.keyLifetime)
        try await notify(key: .sample(22))
    }
}
