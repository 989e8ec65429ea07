import MessagingWire
import Testing

@Suite struct `The Accept field` {
    @Test(arguments: APIVersion.allCases)
    func `it names each version`(version: APIVersion) {
        let accept = "application/vnd.layer+json; version=\(version.rawValue)"
        #expect(APIVersion(accept: accept) == version)
    }

    @Test(arguments: [
        "Application/VND.Layer+JSON;VERSION=1.1",
        "application/vnd.layer+json  ;\tversion  =  1.1  ",
        "application/vnd.layer+json; version=\"1.1\"",
        "application/vnd.layer+json; q=0.5; version=1.1; charset=utf-8",
        "text/html, application/vnd.layer+json; version=1.1",
        "application/vnd.layer+json; version=9, application/vnd.layer+json; version=1.1",
        "text/plain; title=\"a, b; version=3.0\", application/vnd.layer+json; version=1.1",
        ",, application/vnd.layer+json; version=1.1,",
    ])
    func `what clients write is understood`(accept: String) {
        #expect(APIVersion(accept: accept) == .v1_1)
    }

    @Test(arguments: [
        "", "*/*", "application/json", "application/vnd.layer+json",
        "application/vnd.layer+json; version=", "application/vnd.layer+json; version=1",
        "application/vnd.layer+json; version=1.10", "application/vnd.layer+json; version=4.0",
        "application/vnd.layer+json; version=\"1.1", "application/vnd.layer+json version=1.1",
        "application/vnd.layer.webhooks+json; version=1.0", "\"", ";", "=;=,\"\"",
    ])
    func `anything else names none`(accept: String) {
        #expect(APIVersion(accept: accept) == nil)
    }

    @Test func `versions are in the order of their release`() {
        #expect(APIVersion.allCases.sorted() == [.v1_0, .v1_1, .v2_0, .v3_0])
    }
}
