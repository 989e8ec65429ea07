import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /users/{u}/messages/{M}/receipts` (platform-api §5.2.6).
    func sendReceipt(_ body: JSONValue) async throws -> Reply {
        let kind = try ReceiptJSON.read(body.asObject())
        try await store.recordReceipt(kind, of: message(), by: user(), in: application)
        return .noContent
    }

    /// `POST /users/{u}/conversations/{C}/mark_all_read` (platform-api §5.1.7).
    func markAllRead(_ body: JSONValue) async throws -> Reply {
        let place = try MarkAllReadJSON.read(body.asObject())
        let (user, asked) = (try user(), try conversation())
        let read = try await store.markAllRead(upTo: place, by: user, in: asked, in: application)
        return Reply(.accepted, MarkAllReadJSON.answer(read.place))
            .locating(read.conversation, askedAs: asked, links(.user(user)))
    }
}
