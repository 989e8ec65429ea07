import HTTP
import Testing

@Suite struct `A CORS policy` {
    private let policy = CORSPolicy(
        origins: ["https://a.example", "http://b.example:8080"],
        requestHeaders: ["X-One", "X-Two"],
        exposedHeaders: ["X-Request-Id"], maxAge: 600)

    private func request(
        _ fields: [(name: String, value: String)], _ method: Method = .get
    ) -> Request {
        Request(method: method, target: RequestTarget("/"), fields: Fields(fields))
    }

    private func fields(
        _ policy: CORSPolicy, _ fields: [(name: String, value: String)], _ method: Method = .get
    ) -> ResponseFields {
        var added = ResponseFields()
        let request = request(fields, method)
        policy.add(to: &added, for: request)
        policy.addPreflight(to: &added, for: request, methods: "GET, OPTIONS")
        return added
    }

    @Test(arguments: ["https://a.example", "http://b.example:8080"])
    func `echoes an allowed origin (H122)`(origin: String) {
        let added = fields(policy, [("Origin", origin)])
        #expect(added["Access-Control-Allow-Origin"] == origin)
        #expect(added["Access-Control-Expose-Headers"] == "X-Request-Id")
        #expect(added["Vary"] == "Origin")
        #expect(added["Access-Control-Allow-Credentials"] == nil)
        #expect(added["Access-Control-Allow-Methods"] == nil)
    }

    @Test(arguments: [
        "https://a.example.evil", "https://evil-a.example", "https://sub.a.example",
        "http://a.example", "https://a.example:443", "https://a.example:8443",
        "https://a.example/", "HTTPS://A.EXAMPLE", "https://a.exampl\u{E9}", "null", "*", "",
        "http://b.example", "https://a.example https://b.example",
    ])
    func `adds only Vary for every other origin (H122)`(origin: String) {
        let added = fields(policy, [("Origin", origin)])
        #expect(added.all.map(\.name) == ["Vary"])
    }

    @Test func `adds Vary to requests without an origin as well (H122)`() {
        #expect(fields(policy, []).all.map(\.value) == ["Origin"])
    }

    @Test func `allows null only when it is listed (H122)`() {
        let opaque = policy.allowing(["null"])
        #expect(fields(opaque, [("Origin", "null")])["Access-Control-Allow-Origin"] == "null")
    }

    @Test func `for all origins never allows credentials (H122)`() {
        let open = policy.allowing(["*"])
        let added = fields(open, [("Origin", "https://any.example")])
        #expect(added["Access-Control-Allow-Origin"] == "*")
        #expect(added["Access-Control-Allow-Credentials"] == nil)
        #expect(added["Vary"] == "Origin")
    }

    @Test func `answers a preflight with methods, headers and an age (H123)`() {
        let preflight = [("Origin", "https://a.example"), ("Access-Control-Request-Method", "GET")]
        let added = fields(policy, preflight, .options)
        #expect(added["Access-Control-Allow-Methods"] == "GET, OPTIONS")
        #expect(added["Access-Control-Allow-Headers"] == "X-One, X-Two")
        #expect(added["Access-Control-Max-Age"] == "600")
    }

    @Test(
        arguments: [
            (
                [("Origin", "https://c.example"), ("Access-Control-Request-Method", "GET")],
                .options
            ),
            ([("Origin", "https://a.example")], .options),
            ([("Access-Control-Request-Method", "GET")], .options),
            ([("Origin", "https://a.example"), ("Access-Control-Request-Method", "GET")], .get),
        ] as [([(name: String, value: String)], Method)])
    func `answers no preflight of another origin, and nothing without a preflight (H123)`(
        preflight: [(name: String, value: String)], method: Method
    ) {
        let added = fields(policy, preflight, method)
        #expect(added["Access-Control-Allow-Methods"] == nil)
        #expect(added["Access-Control-Allow-Headers"] == nil)
        #expect(added["Access-Control-Max-Age"] == nil)
    }

    @Test func `without origins adds nothing (H122)`() {
        let none = policy.allowing([])
        #expect(!none.isEnabled)
        let preflight = [("Origin", "https://a.example"), ("Access-Control-Request-Method", "GET")]
        #expect(fields(none, preflight, .options).all.isEmpty)
    }

    @Test func `applies to asynchronous answers as well (H124)`() async {
        let request = request([("Origin", "https://a.example")])
        let late = Answer("r") { _ in Response(.internalServerError) }
        let early = Answer("r", Response(.notFound))
        for answer in [late, early].map({ $0.with(policy, for: request) }) {
            let response: Response
            switch answer.outcome {
            case .response(let answer): response = answer
            case .work(_, let work): response = await work(ScriptedBody([]))
            case .upgrade(let upgrade): response = Response(upgrade)
            }
            #expect(response.fields["Access-Control-Allow-Origin"] == "https://a.example")
        }
    }

    @Test(arguments: [
        ("*", true), ("null", true), ("https://a.example", true), ("http://localhost:3000", true),
        ("capacitor://localhost", true), ("http://[::1]:8080", true), ("https://a.example/", false),
        ("https://A.example", false), ("a.example", false), ("https://", false), ("", false),
        ("https://a.example:443", false), ("http://a.example:80", false),
        ("https://*.a.example", false), ("https://u@a.example", false), ("https://a b", false),
    ])
    func `recognizes origins as browsers send them (H122)`(text: String, isOrigin: Bool) {
        #expect(CORSPolicy.isOrigin(text) == isOrigin)
    }
}
