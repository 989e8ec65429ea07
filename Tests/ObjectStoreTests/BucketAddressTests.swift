import Testing

@testable import ObjectStore

@Suite struct `The address of a bucket` {
    @Test(arguments: [
        ("https://s3.example.com", AddressStyle.path, "https://s3.example.com/box/a/b%20c"),
        ("https://S3.example.com:443/", .path, "https://s3.example.com/box/a/b%20c"),
        ("http://127.0.0.1:9000", .path, "http://127.0.0.1:9000/box/a/b%20c"),
        ("http://[::1]:9000/", .path, "http://[::1]:9000/box/a/b%20c"),
        ("HTTP://example.com:80/store/s3/", .path, "http://example.com/store/s3/box/a/b%20c"),
        ("https://s3.example.com:8443", .virtualHost, "https://box.s3.example.com:8443/a/b%20c"),
        ("https://example.com/s3", .virtualHost, "https://box.example.com/s3/a/b%20c"),
    ])
    func `is in the path or in the host`(endpoint: String, style: AddressStyle, url: String)
        throws
    {
        let address = try #require(BucketAddress(settings(endpoint: endpoint, style: style)))
        #expect(address.url(path: address.path(of: "a/b c"), query: "") == url)
    }

    @Test func `of the bucket itself has no key`() throws {
        let path = try #require(BucketAddress(settings(style: .path)))
        #expect(
            path.url(path: path.path(of: nil), query: "uploads=")
                == "https://s3.example.com/box?uploads=")
        let host = try #require(BucketAddress(settings(style: .virtualHost)))
        #expect(
            host.url(path: host.path(of: nil), query: "uploads=")
                == "https://box.s3.example.com/?uploads=")
    }
}

@Suite struct `Settings of a store` {
    @Test func `have no errors if they are valid`() {
        #expect(settings().invalidSettings().isEmpty)
        #expect(settings(style: .virtualHost).invalidSettings().isEmpty)
    }

    @Test(arguments: [
        "", "s3.example.com", "ftp://s3.example.com", "https://", "https://a b", "https://a:0",
        "https://a:65536", "https://a:x", "https://user@a", "https://a?x=1", "https://a/#b",
        "https://a/x//y", "https://a/../b", "https://a/%2e", "https://[::1", "https://[x]",
        "https://ä.example.com", "https://a\r\nHost: b",
    ])
    func `reject an invalid endpoint`(endpoint: String) {
        #expect(settings(endpoint: endpoint).invalidSettings().map(\.setting) == ["endpoint"])
    }

    @Test(arguments: [
        (AddressStyle.path, "ab"), (.path, "a/b"), (.path, "a b"), (.path, "bücket"),
        (.virtualHost, "Box"), (.virtualHost, "a_b"), (.virtualHost, "-box"),
        (.virtualHost, "a..b"),
        (.virtualHost, "ab"), (.virtualHost, String(repeating: "a", count: 64)),
    ])
    func `reject a bucket's name that its style cannot have`(style: AddressStyle, bucket: String) {
        #expect(
            settings(bucket: bucket, style: style).invalidSettings().map(\.setting) == ["bucket"])
    }

    @Test func `reject an IP address with virtual hosts`() {
        let invalidSettings = settings(endpoint: "http://127.0.0.1:9000", style: .virtualHost)
            .invalidSettings()
        #expect(invalidSettings.map(\.setting) == ["endpoint"])
    }

    @Test(arguments: ["/a", "a//b", "../", "a\n", String(repeating: "a", count: 600)])
    func `reject a prefix that a proxy might normalize`(prefix: String) {
        #expect(settings(prefix: prefix).invalidSettings().map(\.setting) == ["prefix"])
    }

    @Test func `report every error at once`() {
        var wrong = settings(endpoint: "nowhere", bucket: "", prefix: "/")
        wrong.region = ""
        wrong.credentials = Credentials(accessKey: "a,b", secretKey: "", sessionToken: "x\ny")
        wrong.attempts = 0
        #expect(
            wrong.invalidSettings().map(\.setting) == [
                "endpoint", "region", "bucket", "prefix", "accessKey", "secretKey", "sessionToken",
                "attempts",
            ])
    }

    @Test func `reject unsigned bodies without TLS (§10.4)`() {
        var wrong = settings(endpoint: "http://s3.example.com")
        wrong.leavesPayloadUnsigned = true
        #expect(wrong.invalidSettings().map(\.setting) == ["leavesPayloadUnsigned"])
    }
}

@Suite struct `The key of an object` {
    @Test(arguments: ["a", "a/b", "ä b+c~.txt", "...", String(repeating: "a", count: 512)])
    func `is text that no proxy normalizes`(text: String) {
        #expect(ObjectKey(text)?.text == text)
    }

    @Test(arguments: [
        "", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\u{0}", "a\u{85}", "\r\n",
        String(repeating: "a", count: 513),
    ])
    func `rejects any other text`(text: String) {
        #expect(ObjectKey(text) == nil)
    }

    @Test func `is equal by bytes`() {
        #expect(ObjectKey("\u{E9}") != ObjectKey("e\u{301}"))
    }
}

private func settings(
    endpoint: String = "https://s3.example.com", bucket: String = "box", prefix: String = "",
    style: AddressStyle = .path
) -> ObjectStoreSettings {
    ObjectStoreSettings(
        endpoint: endpoint, bucket: bucket, prefix: prefix, style: style,
        credentials: Credentials(accessKey: "key", secretKey: "secret"))
}

@Suite struct `Percent-encoding` {
    @Test(arguments: [
        ("AZaz09-._~", "AZaz09-._~"), ("a b+c", "a%20b%2Bc"), ("%41", "%2541"),
        ("ü/€", "%C3%BC/%E2%82%AC"),
        ("!'()*:@&=$,;?#[]", "%21%27%28%29%2A%3A%40%26%3D%24%2C%3B%3F%23%5B%5D"),
        ("a/../b", "a/../b"),
    ])
    func `escapes every byte but the plain ones, once`(text: String, encoded: String) {
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
    func `rejects an invalid escape`(text: String) {
        #expect(URIEncoding.decoded(text) == nil)
    }

    @Test func `reads a plus sign as a space`() {
        #expect(URIEncoding.decoded("a+b%2B") == "a b+")
    }
}
