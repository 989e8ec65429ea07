import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /users/{u}/announcements/{A}/receipts` (client-api §4.4).
    func sendAnnouncementReceipt(_ body: JSONValue) async throws -> Reply {
        let kind = try ReceiptJSON.read(body.asObject())
        try await store.recordReceipt(kind, of: announcement(), by: user(), in: application)
        return .noContent
    }

    /// `DELETE /users/{u}/announcements/{A}` (client-api §4.4): his copy only.
    func deleteAnnouncement() async throws -> Reply {
        try await store.deleteAnnouncement(announcement(), for: user(), in: application)
        return .noContent
    }
}
