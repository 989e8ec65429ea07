import Testing

@testable import ObjectStore

@Suite struct `Percent-encoding` {
    @Test(arguments: [
        ("AZaz09-._~", "AZaz09-._~"), ("a b+c", "a%20b%2Bc"), ("%41", "%2541"),
        ("ü/€", "%C3%BC/%E2%82%AC"),
        ("!'()*:@&=$,;?#[]", "%21%27%28%29%2A%3A%40%26%3D%24%2C%3B%3F%23%5B%5D"),
        ("a/../b", "a/../b"),
    ])
    func `escapes every octet but the plain ones, once`(text: String, encoded: String) {
        #expect(URIEncoding.path(text) == encoded)
        #expect(URIEncoding.component(text) == encoded.replacing("/", with: "%2F"))
        #expect(URIEncoding.decoded(encoded) == text)
    }

    @Test func `sorts parameters by name, then by value, as they are encoded`() {
        let query = CanonicalRequest.query([
            ("b", "1"), ("a", "z"), ("a", "/"), ("uploads", ""), ("B", "2"), ("ä", "3"),
        ])
        #expect(query == "%C3%A4=3&B=2&a=%2F&a=z&b=1&uploads=")
    }

    @Test(arguments: ["%", "%4", "%zz", "%FF"])
    func `undoes no broken escape`(text: String) {
        #expect(URIEncoding.decoded(text) == nil)
    }

    @Test func `reads a plus sign as the blank stores mean`() {
        #expect(URIEncoding.decoded("a+b%2B") == "a b+")
    }
}
