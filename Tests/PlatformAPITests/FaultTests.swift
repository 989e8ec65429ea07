import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import PlatformAPI
import Testing

@Suite struct `A fault of ours` {
    @Test func `it is answered without its text and reported once (H95)`() async throws {
        let world = try await World.broken(.unexpected)
        let answer = try await ask(world)
        #expect(answer.status == 500)
        #expect(
            answer.body == """
                {"id":"internal_server_error","code":100,\
                "message":"Something unexpected happened.",\
                "url":"https://developer.layer.com/docs/platform"}
                """)
        #expect(world.faults.reported == 1)
    }

    @Test func `a part that is away is a reason to try again (2_2)`() async throws {
        let world = try await World.broken(.unavailable)
        let answer = try await ask(world)
        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "5")
        #expect(answer.body.hasPrefix(#"{"id":"service_unavailable","code":1,"#))
        #expect(world.faults.reported == 1)
    }

    private func ask(_ world: World) async throws -> PlainAnswer {
        try await RouterDoor(service: world.service).ask(
            PlainRequest(
                method: "GET",
                target: "/apps/7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55/users/ana/conversations",
                fields: [
                    ("Authorization", "Bearer unseen"),
                    ("Accept", "application/vnd.layer+json; version=3.0"),
                ], body: ""))
    }
}

@Suite struct `What the HTTP layer refuses` {
    @Test(arguments: [
        (Status.contentTooLarge, Int64(10)), (.fieldsTooLarge, 10), (.badRequest, 10),
        (.requestTimeout, 8), (.notImplemented, 10), (.serviceUnavailable, 1),
    ])
    func `it is an error object with the layer's own status`(
        status: Status, code: Int64
    ) async throws {
        let world = try await World.shared
        let response = world.service.refusal(Refusal(status, "H1", "A reason."))
        #expect(response.status == status)
        #expect(response.fields["Content-Type"] == "application/json; charset=UTF-8")
        guard case .bytes(let octets) = response.content else {
            Issue.record("no content")
            return
        }
        let error = try JSONDocument(octets).root
        #expect(error["code"]?.integer == code)
        #expect(error["message"]?.string == "A reason.")
    }
}
