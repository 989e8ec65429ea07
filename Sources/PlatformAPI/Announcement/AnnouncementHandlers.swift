import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension RequestContext {
    /// `POST /announcements` (platform-api §5.5): 202, also when the request is repeated with the same key.
    func announce(_ body: JSONValue) async throws -> Reply {
        let draft = try AnnouncementDraftJSON.read(body.asObject(), version)
        switch try await store.announce(draft, key: key, in: application) {
        case .created(let snapshot), .replayed(let snapshot), .matched(let snapshot):
            return Reply(.accepted, json(snapshot)).adding(
                "Location", links.location(ofAnnouncement: snapshot.announcement.id))
        case .idInUse(let snapshot), .conflict(let snapshot):
            return APIError(
                .idInUse, "The requested Announcement already exists", data: .object(json(snapshot))
            ).reply(publicBase: publicBase)
        }
    }
}

extension RequestContext {
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
            recipients: .all(snapshot.recipients)
        ).write(presentation(), into: &writer)
        return writer.finish()
    }
}

extension AnnouncementJSON {
    /// An announcement as a recipient sees it.
    init(_ view: AnnouncementView, for user: UserID) {
        self.init(
            view.announcement, sender: view.sender, recipients: .viewer(user, view.status))
    }
}

extension RequestContext {
    /// `POST /users/{u}/announcements/{A}/receipts` (client-api §4.4).
    func sendAnnouncementReceipt(_ body: JSONValue) async throws -> Reply {
        let kind = try ReceiptJSON.read(body.asObject())
        try await store.recordReceipt(kind, of: announcement(), by: user(), in: application)
        return .noContent
    }

    /// `DELETE /users/{u}/announcements/{A}` (client-api §4.4): the user's copy only.
    func deleteAnnouncement() async throws -> Reply {
        try await store.deleteAnnouncement(announcement(), for: user(), in: application)
        return .noContent
    }
}
