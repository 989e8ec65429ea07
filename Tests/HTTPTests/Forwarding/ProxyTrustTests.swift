import TestSupport
import Testing

@testable import HTTP

@Suite struct `Trusted proxies` {
    private static let proxy = PeerAddress.named("10.0.0.1", port: 4000)

    /// Header fields with the expected client and scheme.
    struct Case: CustomTestStringConvertible {
        let lines: [String]
        let client: PeerAddress
        let scheme: Scheme?

        init(_ lines: String..., is client: String, port: UInt16 = 0, _ scheme: Scheme? = nil) {
            self.lines = lines
            self.client = client == "proxy" ? proxy : .named(client, port: port)
            self.scheme = scheme
        }

        var testDescription: String { lines.joined(separator: " | ") }
    }

    @Test(arguments: [
        Case("for=192.0.2.43", is: "192.0.2.43"),
        Case(
            "For=\"192.0.2.43:4711\";Proto=HTTPS;by=203.0.113.43", is: "192.0.2.43", port: 4711,
            .https),
        Case("for=\"[2001:db8:cafe::17]:4711\"", is: "2001:db8:cafe::17", port: 4711),
        Case("for=\"[2001:db8:cafe::17]\"", is: "2001:db8:cafe::17"),
        Case("for=\"192.0.2.43:_http\"", is: "192.0.2.43"),
        Case("for=\"[::ffff:192.0.2.43]\"", is: "192.0.2.43"),
        Case("for=\"192.0\\.2.43\"", is: "192.0.2.43"),
        Case("for=192.0.2.43;", is: "192.0.2.43"),
        // The first untrusted address from the right; elements before it are not trusted.
        Case("for=1.1.1.1, for=192.0.2.43", is: "192.0.2.43"),
        Case(
            "for=1.1.1.1, for=192.0.2.43;proto=https, for=10.0.0.2;proto=http", is: "192.0.2.43",
            .https),
        Case("for=1.1.1.1, for=192.0.2.43", "for=10.0.0.3", "for=10.0.0.2", is: "192.0.2.43"),
        Case("for=10.0.0.3, for=10.0.0.2", is: "10.0.0.3"),
        Case(",for=192.0.2.43 ,, for=10.0.0.2 ,", is: "192.0.2.43"),
        // Malformed, unknown or hidden elements end the search.
        Case("for=192.0.2.43, for=unknown", is: "proxy"),
        Case("for=192.0.2.43, for=_hidden, for=10.0.0.2", is: "10.0.0.2"),
        Case("for=192.0.2.43, proto=https", is: "proxy", .https),
        Case("for=192.0.2.43;for=192.0.2.43", is: "proxy"),
        Case("for=192.0.2.43;", "for=10.0.0.2;proto", is: "proxy"),
        Case("for=2001:db8::17", is: "proxy"),
        Case("for=\"2001:db8::17\"", is: "proxy"),
        Case("for=\"[2001:db8::17\"", is: "proxy"),
        Case("for=\"[2001:db8::17]x\"", is: "proxy"),
        Case("for=192.0.2.043", is: "proxy"),
        Case("for=\"192.0.2.43:65536\"", is: "proxy"),
        Case("for=\"192.0.2.43:+80\"", is: "proxy"),
        Case("for=\"192.0.2.43:_\"", is: "proxy"),
        Case("for = 192.0.2.43", is: "proxy"),
        Case("for=192.0.2.43 proto=http", is: "proxy"),
        Case("192.0.2.43", is: "proxy"),
        Case("", is: "proxy"),
        // A quote that a client leaves open does not swallow what a proxy appends.
        Case("for=\", for=192.0.2.43", is: "192.0.2.43"),
        Case("for=\"\\, for=\"[2001:db8::1]\"", is: "2001:db8::1"),
        Case("for=\"a,b\";x=\"c\\\",d\\\\\", for=10.0.0.2", is: "10.0.0.2"),
        Case("for=192.0.2.43;x=\"c\\\",d\\\\\", for=10.0.0.2", is: "192.0.2.43"),
        Case("for=192.0.2.43\"", is: "proxy"),
        // Other schemes are ignored.
        Case("for=192.0.2.43;proto=gopher", is: "192.0.2.43"),
    ]) func `Forwarded is read from the right (H199, H200, H201)`(one: Case) {
        expectOrigin(.forwarded, one, "Forwarded")
    }

    @Test(arguments: [
        Case("192.0.2.43", is: "192.0.2.43"),
        Case("192.0.2.43:4711", is: "192.0.2.43", port: 4711),
        Case("2001:db8::17", is: "2001:db8::17"),
        Case("[2001:db8::17]:4711", is: "2001:db8::17", port: 4711),
        Case("1.1.1.1, 192.0.2.43,10.0.0.2", is: "192.0.2.43"),
        Case("1.1.1.1", "192.0.2.43", "10.0.0.2", is: "192.0.2.43"),
        Case("192.0.2.43, unknown", is: "proxy"),
        Case("192.0.2.43, , 10.0.0.2", is: "192.0.2.43"),
        Case("192.0.2.43, \"10.0.0.2\"", is: "proxy"),
        Case("192.0.2.43, 10.0.0.2.", is: "proxy"),
        Case("for=192.0.2.43", is: "proxy"),
    ]) func `X-Forwarded-For is read from the right (H199, H200)`(one: Case) {
        expectOrigin(.xForwarded, one, "X-Forwarded-For")
    }

    @Test(
        arguments: [
            ("for=192.0.2.43;host=chat.example.com", "chat.example.com"),
            ("for=192.0.2.43;host=\"Chat.Example.com:8443\"", "chat.example.com:8443"),
            ("for=192.0.2.43;host=\"[2001:db8::1]:8443\"", "[2001:db8::1]:8443"),
            ("for=192.0.2.43;host=\"[2001:db8::1]\"", "[2001:db8::1]"),
            ("for=192.0.2.43;host=evil, for=192.0.2.44;host=a, for=10.0.0.2;host=b", "a"),
            ("for=192.0.2.43;host=\"a:0\"", nil), ("for=192.0.2.43;host=\"a:65536\"", nil),
            ("for=192.0.2.43;host=\"a:\"", nil), ("for=192.0.2.43;host=\"a:+1\"", nil),
            ("for=192.0.2.43;host=\"a/b\"", nil), ("for=192.0.2.43;host=\"u@a\"", nil),
            ("for=192.0.2.43;host=\"a b\"", nil), ("for=192.0.2.43;host=\"\"", nil),
            ("for=192.0.2.43;host=\"a?b\"", nil), ("for=192.0.2.43;host=\"<a>\"", nil),
            ("for=192.0.2.43;host=\"a\\\"b\"", nil), ("for=192.0.2.43;host=\"2001:db8::1\"", nil),
            ("for=192.0.2.43", nil), ("host=chat.example.com", "chat.example.com"),
            ("for=unknown;host=a", "a"), ("for=192.0.2.43;host=evil, for=unknown;host=a", "a"),
        ] as [(String, String?)])
    func `Forwarded gives the host that the client requested (ruling 36)`(
        text: String, host: String?
    ) {
        let origin = Self.trust(.forwarded)
            .origin(of: Fields([("Forwarded", text)]), from: Self.proxy)
        #expect(origin.host?.description == host)
        let other = Self.trust(.xForwarded)
            .origin(of: Fields([("Forwarded", text)]), from: Self.proxy)
        #expect(other.host == nil)
    }

    @Test(
        arguments: [
            ([("Host", "chat.example.com")], "chat.example.com"),
            ([("Host", "evil, chat.example.com")], "chat.example.com"),
            ([("Host", "chat.example.com"), ("Port", "8443")], "chat.example.com:8443"),
            ([("Host", "chat.example.com:1"), ("Port", "8443")], "chat.example.com:1"),
            (
                [("Host", "chat.example.com"), ("Port", "443"), ("Proto", "https")],
                "chat.example.com"
            ),
            (
                [("Host", "chat.example.com"), ("Port", "80"), ("Proto", "https")],
                "chat.example.com:80"
            ),
            ([("Host", "chat.example.com"), ("Port", "x")], "chat.example.com"),
            ([("Host", "a/../b")], nil), ([("Host", "javascript:alert(1)")], nil),
            ([("Port", "80")], nil),
        ] as [([(String, String)], String?)])
    func `X-Forwarded-Host and -Port give the host that the client requested (ruling 36)`(
        fields: [(String, String)], host: String?
    ) {
        let reported = fields.map { name, value in ("X-Forwarded-\(name)", value) }
        let fields = Fields([("X-Forwarded-For", "192.0.2.43")] + reported)
        let trust = Self.trust(.xForwarded)
        #expect(trust.origin(of: fields, from: Self.proxy).host?.description == host)
        #expect(Self.trust(.none).origin(of: fields, from: Self.proxy).host == nil)
        // A proxy may report the host without an address.
        let withoutAddress = trust.origin(of: Fields(reported), from: Self.proxy)
        #expect(withoutAddress.host?.description == host)
        #expect(withoutAddress.client == Self.proxy)
    }

    @Test(
        arguments: [
            ("192.0.2.43", "https", .https), ("192.0.2.43", "HTTP", .http),
            ("192.0.2.43, 10.0.0.2", "https", .https),
            ("192.0.2.43, 10.0.0.2", "https, http", .https),
            ("192.0.2.43", "https, http", .http), ("192.0.2.43", "ws", nil),
            ("192.0.2.43", "", nil),
            ("unknown", "https", .https), ("10.0.0.2", "https, http", .http),
        ] as [(String, String, Scheme?)])
    func `X-Forwarded-Proto gives the client's scheme, http or https (H201)`(
        addresses: String, schemes: String, scheme: Scheme?
    ) {
        let fields = Fields([("X-Forwarded-For", addresses), ("X-Forwarded-Proto", schemes)])
        #expect(Self.trust(.xForwarded).origin(of: fields, from: Self.proxy).scheme == scheme)
    }

    @Test func `only the chosen source is trusted (H198, H200)`() {
        let fields = Fields([
            ("Forwarded", "for=192.0.2.1;proto=https"), ("X-Forwarded-For", "192.0.2.2"),
            ("X-Real-IP", "192.0.2.3"), ("X-Forwarded-Proto", "http"),
        ])
        let origin = { (source: ProxyTrust.Source) in
            Self.trust(source).origin(of: fields, from: Self.proxy)
        }
        #expect(origin(.none) == .init(client: Self.proxy))
        #expect(origin(.forwarded) == .init(client: .named("192.0.2.1"), scheme: .https))
        #expect(origin(.xForwarded) == .init(client: .named("192.0.2.2"), scheme: .http))
    }

    @Test func `no more hops are read than allowed (H199)`() {
        var trust = Self.trust(.xForwarded)
        trust.maximumHops = 3
        let list = ["192.0.2.43"] + (2...9).reversed().map { number in "10.0.0.\(number)" }
        let fields = Fields([("X-Forwarded-For", list.joined(separator: ","))])
        #expect(trust.origin(of: fields, from: Self.proxy).client == .named("10.0.0.4"))
        trust.maximumHops = 9
        #expect(trust.origin(of: fields, from: Self.proxy).client == .named("192.0.2.43"))
    }

    @Test(arguments: 0..<2000)
    func `no list traps, and elements of untrusted peers are ignored (H199, H215)`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let list = Array("for=\"[2001:db8::1]:80\";proto=https, for=192.0.2.1, for=10.0.0.2".utf8)
        let claim = String(decoding: random.mutation(of: list), as: UTF8.self)
        let fields = Fields([("Forwarded", "\(claim), for=198.51.100.7;proto=http")])
        let origin = Self.trust(.forwarded).origin(of: fields, from: Self.proxy)
        #expect(origin == .init(client: .named("198.51.100.7"), scheme: .http))
    }

    private static func trust(_ source: ProxyTrust.Source) -> ProxyTrust {
        var trust = ProxyTrust()
        trust.proxies = ["10.0.0.0/8"].compactMap { text in AddressBlock(text) }
        trust.source = source
        return trust
    }

    private func expectOrigin(
        _ source: ProxyTrust.Source, _ one: Case, _ name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let fields = Fields(one.lines.map { line in (name, line) })
        #expect(
            Self.trust(source).origin(of: fields, from: Self.proxy)
                == .init(client: one.client, scheme: one.scheme), sourceLocation: sourceLocation)
    }
}
