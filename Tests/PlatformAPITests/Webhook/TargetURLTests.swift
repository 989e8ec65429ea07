import HTTP
import Testing

@testable import PlatformAPI

@Suite struct `The target of a webhook` {
    @Test(arguments: [
        "https://localhost/", "https://localhost./", "https://LOCALHOST.:8443/in",
        "https://foo.localhost/", "https://a.foo.LocalHost./in",
    ]) func `is this machine by its names only where an operator allows it (X6)`(
        text: String
    ) throws {
        let target = try #require(TargetURL(text))
        var rule = OutboundRule()
        #expect(!target.isAdmitted(by: rule))
        for own in ["127.0.0.0/8", "::1/128"] {
            rule.allowedNetworks = [try #require(AddressBlock(own))]
            #expect(target.isAdmitted(by: rule))
        }
        rule.allowedNetworks = [try #require(AddressBlock("10.0.0.0/8"))]
        #expect(!target.isAdmitted(by: rule))
    }

    @Test(arguments: [
        "https://localhost.example.org/", "https://notlocalhost/", "https://example.org./localhost",
    ]) func `may be whatever else has a name (X6)`(text: String) throws {
        #expect(try #require(TargetURL(text)).isAdmitted(by: OutboundRule()))
    }
}
