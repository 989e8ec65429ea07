import HTTP
import JSON
import MessagingStore
import MessagingWire

extension Call {
    /// `PATCH /apps/{APP}` (platform-api §5.11).
    func patchApplication(_ body: JSONValue) async throws -> Reply {
        if let seconds = try ApplicationPatchJSON.read(body.asPatch()) {
            try await store.setSessionLifetime(seconds, of: application)
        }
        return Reply(.accepted)
    }
}
