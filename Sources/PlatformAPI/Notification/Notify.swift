import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /notifications` (platform-api §5.6): it is in the log once this is answered.
    func notify(_ body: JSONValue) async throws -> Reply {
        let draft = try PushNotificationJSON.read(body.asObject(), version)
        try await store.notify(draft, key: key, in: application)
        return Reply(.accepted)
    }
}
