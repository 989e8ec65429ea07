import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// Erasures of users, with their proofs (X16).
    static let erasures = [
        Endpoint(
            .delete, "/apps/{app}/users/{user}", "Erases a user; the answer is a job.",
            scope: .admin, .withoutBody { context in try await context.eraseUser() }
        ) { _ in
            Operation(
                "eraseUser",
                query: [
                    Parameter(
                        "mode", .choice(["erase"]),
                        "`erase` deletes what belongs to the user, and makes tombstones of the user's messages.",
                        isRequired: true)
                ], answers: [.accepted(ErasureJSON.schema)],
                errors: [.missingProperty, .userErased, .invalidOperation],
                example: Example(query: [("mode", "erase")]))
        },
        Endpoint(
            .get, "/apps/{app}/erasures/{erasure}", "Reads the erasure of a user and its proof.",
            .withoutBody { context in try await context.readErasure() }
        ) { _ in
            Operation("readErasure", answers: [.ok(ErasureJSON.schema, "The erasure.")])
        },
    ]
}

extension RequestContext {
    /// `DELETE /users/{u}?mode=erase` (X16).
    func eraseUser() async throws -> Reply {
        switch query["mode"] {
        case "erase": break
        case nil: throw Rejection.missing("mode")
        case .some: throw Rejection.invalid("mode", .erasureMode)
        }
        let erasure = try await store.eraseUser(user(), in: application)
        return Reply(.accepted, ErasureJSON.bytes(erasure, links))
    }

    /// `GET /erasures/{id}` (X16).
    func readErasure() async throws -> Reply {
        guard let id = parameters["erasure"].flatMap({ Erasure.ID(uuid: $0) }) else {
            throw Rejection.notFound(.erasure)
        }
        return Reply(.ok, ErasureJSON.bytes(try await store.erasure(id, in: application), links))
    }
}
