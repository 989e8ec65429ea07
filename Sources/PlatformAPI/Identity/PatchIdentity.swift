import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PATCH /users/{u}/identity` (platform-api §5.7): all operations, or none.
    func patchIdentity(_ body: JSONValue) async throws -> Reply {
        try await demanding { (user: User) in
            json(user)
        } change: { demand in
            let operations = try IdentityPatchJSON.read(body.asPatch())
            let found = try await store.patchIdentity(
                of: user(), operations, if: demand, in: application)
            return patched { json(found) }.tagged(found.identityVersion)
        }
    }
}
