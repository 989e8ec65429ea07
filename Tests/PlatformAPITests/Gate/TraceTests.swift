import Messaging
import MessagingStore
import Testing

@Suite struct `A request that is part of a trace` {
    private static let line = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test(arguments: [true, false])
    func `leaves it with what happens, when a proxy says so and nobody else (X5, H198)`(
        isProxied: Bool
    ) async throws {
        let scene = try await Scene.make(version: "3.0")
        let door = RouterDoor(service: scene.world.service, isProxied: isProxied)
        for fields in [[("traceparent", Self.line)], [], [("traceparent", "00-none-01")]] {
            let answer = try await scene.ask(
                "POST", "/apps/{app}/conversations",
                #"{"participants":["ana","bo"],"distinct":false}"#, fields: fields, by: door)
            #expect(answer.status == 201)
        }
        let made = try await scene.world.store.events(
            after: .start, limit: 100, in: scene.application
        ).filter { recorded in
            if case .conversationCreated = recorded.event { true } else { false }
        }
        let trace = Trace(id: "0af7651916cd43dd8448eb211c80319c", flags: 1)
        #expect(made.map(\.trace) == [isProxied ? trace : nil, nil, nil])
    }

    @Test func `leaves it also when it is done under a key (X2, X5)`() async throws {
        let scene = try await Scene.make(version: "3.0")
        let door = RouterDoor(service: scene.world.service, isProxied: true)
        let answer = try await scene.ask(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana"],"distinct":false}"#,
            fields: [("traceparent", Self.line), ("Idempotency-Key", "once")], by: door)
        #expect(answer.status == 201)
        let last = try await scene.world.store.events(
            after: .start, limit: 100, in: scene.application
        ).last
        #expect(last?.trace?.id == "0af7651916cd43dd8448eb211c80319c")
    }
}
