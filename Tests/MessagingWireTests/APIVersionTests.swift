import MessagingWire
import Testing

@Suite struct `The Accept field` {
    @Test(arguments: APIVersion.allCases)
    func `each version can be named`(version: APIVersion) {
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
    func `common client values are accepted`(accept: String) {
        #expect(APIVersion(accept: accept) == .v1_1)
    }

    /// Values that accept no version of the API.
    private static let unacceptable = [
        "application/vnd.layer+json", "application/vnd.layer+json; version=",
        "application/vnd.layer+json; version=1.10", "application/vnd.layer+json; version=4.0",
        "application/vnd.layer+json; version=4", "application/vnd.layer+json; version=1.",
        "application/vnd.layer+json; version=03", "application/vnd.layer+json; version=3.0.0",
        "application/vnd.layer+json; version=-1", "application/vnd.layer+json; version=\u{FF13}",
        "application/vnd.layer+json; version=99999999999999999999",
        "application/vnd.layer+json; version=\"1.1", "application/vnd.layer+json version=1.1",
        "application/vnd.layer+json; version=3.0; q=0",
        "application/vnd.layer+json; q=\"0.0\"; version=1.1",
        "application/vnd.layer.webhooks+json; version=1.0", "\"", ";", "=;=,\"\"", "application",
        "application/", "/json", "*", "*/json", "application/*+json", "text/*", "text/html",
        "application/jsonx", "application/json;q=0", "*/*;q=0.000, application/*; q = 0",
        "\"*/*\"", "text/plain; a=\", */*", ";application/json",
    ]

    @Test(arguments: unacceptable)
    func `other values are not acceptable (ruling 31)`(accept: String) {
        #expect(APIVersion(accept: accept) == nil)
        #expect(APIVersion(accept: accept, isStrict: true) == nil)
    }

    /// Values that accept the newest version without naming it.
    private static let unspecific: [String?] = [
        nil, "", " ", ",", " , ,\t", "*/*", "application/*", "application/json",
        "APPLICATION/JSON", "application/json; charset=utf-8", "application/json;q=0.001",
        "application/json;q=", "application/json;q=abc", "application/json;q=00", "*/*;q=1",
        "text/html, */*;q=0.8", "application/json;q=0, */*", "\", application/json, \"*/*, */*",
        "application/vnd.layer+json; version=9.9, application/json",
        "application/vnd.layer+json; version=1.1; q=0, */*",
    ]

    @Test(arguments: unspecific)
    func `without a version the newest applies, unless it is excluded (ruling 31)`(
        accept: String?
    ) {
        #expect(APIVersion(accept: accept) == .v3_0)
        #expect(APIVersion(accept: accept, of: .webhooks) == .v3_0)
        #expect(APIVersion(accept: accept, isStrict: true) == nil)
        #expect(APIVersion(accept: accept, of: .webhooks, isStrict: true) == nil)
    }

    @Test(arguments: [
        ("1", APIVersion.v1_1, APIVersion.v1_0), ("2", .v2_0, .v2_0), ("3", .v3_0, .v3_0),
        ("\"2\"", .v2_0, .v2_0),
    ])
    func `a major number selects its newest version (ruling 31)`(
        number: String, platform: APIVersion, webhooks: APIVersion
    ) {
        for isStrict in [false, true] {
            #expect(
                APIVersion(
                    accept: "application/vnd.layer+json; version=\(number)", isStrict: isStrict)
                    == platform)
            #expect(
                APIVersion(
                    accept: "application/vnd.layer.webhooks+json; version=\(number)",
                    of: .webhooks, isStrict: isStrict) == webhooks)
        }
    }

    @Test func `a named version precedes ranges without one`() {
        let accept = "*/*, application/json, application/vnd.layer+json; version=2.0"
        #expect(APIVersion(accept: accept) == .v2_0)
        #expect(APIVersion(accept: accept, isStrict: true) == .v2_0)
    }

    @Test func `a long header is read in one pass`() {
        let ranges = Array(repeating: "text/x; a=\"b,c\"", count: 20_000)
        #expect(APIVersion(accept: ranges.joined(separator: ",")) == nil)
        #expect(APIVersion(accept: (ranges + ["*/*"]).joined(separator: ",")) == .v3_0)
    }

    @Test func `versions are in the order of their release`() {
        #expect(APIVersion.allCases.sorted() == [.v1_0, .v1_1, .v2_0, .v3_0])
    }
}
