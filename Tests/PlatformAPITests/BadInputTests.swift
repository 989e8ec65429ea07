import JSON
import Testing

@Suite struct `Bad input` {
    @Test(
        arguments: conversations + patches + messages + schedules + announcements + notifications
            + queries + dots)
    func `it is rejected with its status, code and property, and nothing is stored (R28, 1_6)`(
        input: Case
    ) async throws {
        let (sample, client) = try await self.sample()
        let before = try await sample.eventCount()
        let answer = try await sample.send(
            input.method, input.path, input.body, fields: patchType, by: client)
        let error = try JSONDocument(Array(answer.body.utf8)).root
        #expect(answer.status == input.status)
        #expect(error["code"]?.integer == input.code)
        #expect(error["data"]?["property"]?.string == input.property)
        #expect(try await sample.eventCount() == before)
    }

    @Test(arguments: ["POST", "PATCH"])
    func `a body that is not JSON is rejected on every endpoint that reads one (ruling 6)`(
        method: String
    ) async throws {
        let (sample, client) = try await self.sample()
        let before = try await sample.eventCount()
        let path =
            method == "POST" ? "/apps/{app}/conversations" : "/apps/{app}/conversations/{C}"
        for bytes in Self.brokenBodies {
            let answer = try await sample.send(
                method, path, fields: patchType, bytes: bytes, by: client)
            #expect(answer.status == 400, "\(String(decoding: bytes, as: UTF8.self).prefix(60))")
            #expect(answer.body.contains(#""id":"invalid_request","code":10,"#))
        }
        #expect(try await sample.eventCount() == before)
    }

    @Test func `a body above 1 MiB is rejected before it is read (413)`() async throws {
        let sample = try await SampleApplication.make()
        let bytes = [UInt8](repeating: 0x20, count: 1 << 20 | 1)
        for client in [
            RouterClient(service: sample.server.service), SocketClient(port: sample.server.port),
        ] as [any TestClient] {
            let answer = try await sample.send(
                "POST", "/apps/{app}/conversations", bytes: bytes, by: client)
            #expect(answer.status == 413)
            #expect(answer.body.contains(#""code":10,"#))
        }
    }

    @Test func `a body of 1 MiB is read`() async throws {
        let sample = try await SampleApplication.make()
        let body = Array(#"{"participants":["ana"]}"#.utf8)
        let bytes = body + [UInt8](repeating: 0x20, count: 1 << 20 - body.count)
        for client in [
            RouterClient(service: sample.server.service), SocketClient(port: sample.server.port),
        ] as [any TestClient] {
            let answer = try await sample.send(
                "POST", "/apps/{app}/conversations", bytes: bytes, by: client)
            #expect(answer.status == 201)
        }
    }

    private let patchType = [(name: "Content-Type", value: "application/vnd.layer-patch+json")]

    /// A conversation `C` of `ana` with one message `M`.
    private func sample() async throws -> (SampleApplication, any TestClient) {
        var sample = try await SampleApplication.make()
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana"]}"#, by: client)
        sample.variables["C"] = made["Location"]?.split(separator: "/").last.map(String.init)
        return (sample, client)
    }
}
