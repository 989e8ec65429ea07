import HTTP
import MessagingWire
import Testing

@testable import PlatformAPI

@Suite struct `The gate` {
    @Test func `a method of other versions is told with what this one offers (ruling 4)`()
        async throws
    {
        let endpoint = Endpoint(
            .put, "/apps/{app}/conversations/{conversation}", "Is new in 3.0.",
            versions: [.v3_0], .head { _ in .noContent }
        ) { _ in Operation("putConversation", answers: [.noContent([])]) }
        let gate = Gate(
            api: try await World.shared.service.api,
            request: Request(method: .put, target: RequestTarget("/"), fields: Fields([])),
            endpoint: endpoint, parameters: [:])
        #expect(gate.otherMethods(in: .v3_0) == nil)
        #expect(gate.otherMethods(in: .v2_0) == [.get, .head, .patch, .delete, .options])
    }

    @Test(arguments: [
        ("application/vnd.layer-patch+json", APIVersion.v1_0, true),
        ("Application/Vnd.Layer-Patch+JSON ; charset=utf-8", .v1_0, true),
        ("application/vnd.layer-patch.json", .v2_0, true),
        ("application/json", .v3_0, true), ("application/json;charset=utf-8", .v3_0, true),
        ("application/json", .v2_0, false), ("text/plain", .v3_0, false), ("", .v3_0, false),
        ("application/vnd.layer-patch+jsonx", .v3_0, false),
    ])
    func `a patch says that it is one (1_2)`(type: String, version: APIVersion, isPatch: Bool) {
        #expect(PatchType.accepts(type, version) == isPatch)
    }

    @Test func `a patch without a type is none (1_2)`() {
        #expect(!PatchType.accepts(nil, .v3_0))
    }
}
