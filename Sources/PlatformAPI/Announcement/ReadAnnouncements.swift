import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /announcements/{A}` (platform-api §5.5).
    func readAnnouncement() async throws -> Reply {
        Reply(.ok, json(try await store.announcement(announcement(), in: application)))
    }

    /// `GET /users/{u}/announcements` (client-api §4.4).
    func listAnnouncements() async throws -> Reply {
        let page = try PageQuery<Announcement>(query, .announcements)
        let user = try user()
        let found = try await store.announcements(
            for: user, after: page.after, limit: page.limit, in: application)
        let presentation = presentation(.user(user))
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for view in found.items.prefix(page.size) {
                AnnouncementJSON(view, for: user).write(presentation, into: &writer)
            }
        }
        return try listing(writer.finish(), of: found, size: page.size) { view in
            view.announcement.id.uuid
        }
    }

    /// `GET /users/{u}/announcements/{A}` (client-api §4.4).
    func readReceivedAnnouncement() async throws -> Reply {
        let user = try user()
        let found = try await store.announcement(
            announcement(), seenBy: user, in: application)
        var writer = JSONWriter(capacity: 1024)
        AnnouncementJSON(found, for: user).write(presentation(.user(user)), into: &writer)
        return Reply(.ok, writer.finish())
    }

    /// An announcement as the system sees it.
    func json(_ snapshot: AnnouncementSnapshot) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        AnnouncementJSON(
            snapshot.announcement, sender: snapshot.sender,
            perspective: .system(recipients: snapshot.recipients)
        ).write(presentation(), into: &writer)
        return writer.finish()
    }
}

extension AnnouncementJSON {
    /// An announcement as a recipient sees it.
    fileprivate init(_ view: AnnouncementView, for user: UserID) {
        self.init(
            view.announcement, sender: view.sender, perspective: .recipient(user, view.status))
    }
}
