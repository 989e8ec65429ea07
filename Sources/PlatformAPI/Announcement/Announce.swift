import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /announcements` (platform-api §5.5): 202, also for a repeat of its key.
    func announce(_ body: JSONValue) async throws -> Reply {
        let draft = try AnnouncementDraftJSON.read(body.asObject(), version)
        switch try await store.announce(draft, key: key, in: application) {
        case .created(let made), .replayed(let made), .matched(let made):
            return Reply(.accepted, json(made)).adding(
                "Location", links.location(ofAnnouncement: made.announcement.id))
        case .idInUse(let made), .conflict(let made):
            return APIError(
                .idInUse, "The requested Announcement already exists", data: .object(json(made))
            ).reply(publicBase: publicBase)
        }
    }
}
