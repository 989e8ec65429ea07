import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The push tokens of the devices of a user (client-api §4.7). They are stored; nothing is sent to them yet.
    static let pushTokens = [
        Endpoint(
            .post, "/push_tokens", "Stores the push token of a device.", family: .client,
            .jsonBody { context, body in try await context.registerDevice(body) }
        ) { _ in
            Operation(
                "registerDevice", body: DeviceJSON.schema, answers: [.accepted()],
                example: Example(
                    body: """
                        {"type":"apns","token":"a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",\
                        "device_id":"phone","apns_bundle_id":"com.example.chat"}
                        """))
        },
        Endpoint(
            .delete, "/push_tokens/{device}", "Deletes the push token of a device.",
            family: .client, .withoutBody { context in try await context.removeDevice() }
        ) { _ in
            Operation("removeDevice", answers: [.accepted()])
        },
    ]
}

extension RequestContext {
    /// `POST /push_tokens` (client-api §4.7).
    func registerDevice(_ body: JSONValue) async throws -> Reply {
        let device = try DeviceJSON.read(body.asObject())
        if case .session(let session) = caller {
            try await store.registerDevice(
                device, of: session.user, by: session.id, in: application)
        }
        return Reply(.accepted)
    }

    /// `DELETE /push_tokens/{device}` (client-api §4.7): also succeeds for an unknown device.
    func removeDevice() async throws -> Reply {
        if let device = parameters["device"], device.isStorable {
            try await store.removeDevice(device, of: user(), in: application)
        }
        return Reply(.accepted)
    }
}
