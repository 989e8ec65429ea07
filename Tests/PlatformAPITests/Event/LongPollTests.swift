import JSON
import Testing

@Suite struct `Waiting for an event` {
    @Test(arguments: [true, false])
    func `ends with what happens meanwhile (X3)`(overSocket: Bool) async throws {
        let scene = try await Scene.make()
        let conversation = try await scene.conversation()
        let end = try await scene.end()
        async let answer = ask(scene, "?after=\(end)&wait=60", overSocket)
        try await Task.sleep(for: .milliseconds(100))
        try await scene.say(1, in: conversation)
        let page = try JSONDocument(Array(try await answer.body.utf8)).root
        #expect(page["events"]?.elements.map { $0["type"]?.string } == ["message.sent"])
        #expect(page["next"]?.integer == end + 1)
    }

    @Test func `goes on over what is not wanted (X3)`() async throws {
        let scene = try await Scene.make()
        let conversation = try await scene.conversation()
        let end = try await scene.end()
        async let answer = ask(
            scene, "?after=\(end)&types=conversation.created&wait=60", true)
        try await Task.sleep(for: .milliseconds(100))
        try await scene.say(3, in: conversation)
        try await Task.sleep(for: .milliseconds(50))
        _ = try await scene.conversation()
        let page = try JSONDocument(Array(try await answer.body.utf8)).root
        #expect(page["events"]?.elements.map { $0["type"]?.string } == ["conversation.created"])
    }

    @Test func `ends with nothing when its time is over, and says where to go on (X3)`()
        async throws
    {
        let scene = try await Scene.make()
        let end = try await scene.end()
        let answer = try await ask(scene, "?after=now&wait=1", true)
        #expect(answer.status == 200)
        #expect(answer.body == #"{"events":[],"next":\#(end)}"#)
    }

    private func ask(
        _ scene: Scene, _ query: String, _ overSocket: Bool
    ) async throws -> PlainAnswer {
        let door: any Door =
            overSocket
            ? SocketDoor(port: scene.world.port) : RouterDoor(service: scene.world.service)
        return try await scene.ask("GET", "/apps/{app}/events\(query)", by: door)
    }
}
