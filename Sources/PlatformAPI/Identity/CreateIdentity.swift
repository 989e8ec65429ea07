import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /users/{u}/identity` (platform-api §5.7).
    func createIdentity(_ body: JSONValue) async throws -> Reply {
        let identity = try identity(in: body)
        switch try await store.createIdentity(identity, in: application) {
        case .idInUse(let user):
            return APIError(
                .idInUse, "The requested Identity already exists", data: .object(json(user))
            ).reply(publicBase: publicBase)
        case .created(let user), .matched(let user), .replayed(let user), .conflict(let user):
            return Reply(.created).tagged(user.identityVersion)
        }
    }

    /// `PUT /users/{u}/identity`: members left out become `null`.
    func replaceIdentity(_ body: JSONValue) async throws -> Reply {
        try await demanding { (user: User) in
            json(user)
        } change: { demand in
            let user = try await store.replaceIdentity(
                identity(in: body), if: demand, in: application)
            return .noContent.tagged(user.identityVersion)
        }
    }

    private func identity(in body: JSONValue) throws -> Identity {
        let object = try body.asObject()
        return try IdentityJSON.read(object, of: user())
    }

    /// An identity as the system sees it.
    func json(_ user: User) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        IdentityJSON.write(user.identity, links, into: &writer)
        return writer.finish()
    }
}
