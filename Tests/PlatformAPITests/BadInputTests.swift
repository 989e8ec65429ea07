import JSON
import Testing

@Suite struct `Bad input` {
    @Test(
        arguments: conversations + patches + messages + schedules + announcements + notifications
            + queries + dots)
    func `it is refused with its status, code and property, and nothing is stored (R28, 1_6)`(
        input: Case
    ) async throws {
        let (scene, client) = try await self.scene()
        let before = try await scene.eventCount()
        let answer = try await scene.ask(
            input.method, input.path, input.body, fields: patchType, by: client)
        let error = try JSONDocument(Array(answer.body.utf8)).root
        #expect(answer.status == input.status)
        #expect(error["code"]?.integer == input.code)
        #expect(error["data"]?["property"]?.string == input.property)
        #expect(try await scene.eventCount() == before)
    }

    @Test(arguments: ["POST", "PATCH"])
    func `a body that is no JSON is refused on every route that reads one (ruling 6)`(
        method: String
    ) async throws {
        let (scene, client) = try await self.scene()
        let before = try await scene.eventCount()
        let path =
            method == "POST" ? "/apps/{app}/conversations" : "/apps/{app}/conversations/{C}"
        for bytes in Self.brokenBodies {
            let answer = try await scene.ask(
                method, path, fields: patchType, bytes: bytes, by: client)
            #expect(answer.status == 400, "\(String(decoding: bytes, as: UTF8.self).prefix(60))")
            #expect(answer.body.contains(#""id":"invalid_request","code":10,"#))
        }
        #expect(try await scene.eventCount() == before)
    }

    @Test func `a body above 1 MiB is refused before it is read (413)`() async throws {
        let scene = try await SampleApplication.make()
        let bytes = [UInt8](repeating: 0x20, count: 1 << 20 | 1)
        for client in [
            RouterClient(service: scene.world.service), SocketClient(port: scene.world.port),
        ] as [any TestClient] {
            let answer = try await scene.ask(
                "POST", "/apps/{app}/conversations", bytes: bytes, by: client)
            #expect(answer.status == 413)
            #expect(answer.body.contains(#""code":10,"#))
        }
    }

    @Test func `a body of 1 MiB is read`() async throws {
        let scene = try await SampleApplication.make()
        let body = Array(#"{"participants":["ana"]}"#.utf8)
        let bytes = body + [UInt8](repeating: 0x20, count: 1 << 20 - body.count)
        for client in [
            RouterClient(service: scene.world.service), SocketClient(port: scene.world.port),
        ] as [any TestClient] {
            let answer = try await scene.ask(
                "POST", "/apps/{app}/conversations", bytes: bytes, by: client)
            #expect(answer.status == 201)
        }
    }

    private let patchType = [(name: "Content-Type", value: "application/vnd.layer-patch+json")]

    /// A conversation `C` of `ana` with one message `M`.
    private func scene() async throws -> (SampleApplication, any TestClient) {
        var scene = try await SampleApplication.make()
        let client = RouterClient(service: scene.world.service)
        let made = try await scene.ask(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana"]}"#, by: client)
        scene.variables["C"] = made["Location"]?.split(separator: "/").last.map(String.init)
        return (scene, client)
    }
}
