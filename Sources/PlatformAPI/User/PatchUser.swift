import HTTP
import JSON
import MessagingStore
import MessagingWire

extension Call {
    /// `PATCH /users/{u}` (platform-api §5.9, §5.11): done at once, answered as the original does.
    func patchUser(_ body: JSONValue) async throws -> Reply {
        let operations = try UserPatchJSON.read(body.asPatch(), version)
        try await store.patchUser(user(), operations, in: application)
        return Reply(.accepted)
    }
}
