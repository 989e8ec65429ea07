import Bytes
import HTTP
import JSON
import Messaging
import MessagingStore

@testable import ParleyServer

/// A server with a console, and requests to it as a browser on the same machine sends them.
struct ConsoleFixture {
    let server: TestServer
    let components: ServerComponents

    init(_ flags: [(key: String, value: String)] = []) async throws {
        server = TestServer(flags)
        components = try await server.components()
    }

    var store: MessagingStore { components.store }

    static let local = PeerAddress.ipv4(0x7F00_0001, port: 50_000)

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - path: Below `/console/api/`, or from the root if it begins with a slash.
    ///   - cookie: `name=value` of a session.
    ///   - fields: Replace the headers that a page of the console sends; an empty value removes one.
    func send(
        _ method: HTTP.Method, _ path: String, _ body: String? = nil, cookie: String? = nil,
        token: String? = nil, fields: [String: String] = [:], peer: PeerAddress = Self.local,
        scheme: Scheme = .http
    ) async -> ConsoleReply {
        var all = ["Host": "localhost:8080"]
        if method != .get {
            all["X-Parley-Console"] = "1"
            all["Origin"] = "http://localhost:8080"
        }
        if body != nil { all["Content-Type"] = "application/json" }
        if let cookie { all["Cookie"] = cookie }
        if let token { all["Authorization"] = "Bearer \(token)" }
        all.merge(fields) { _, new in new }
        let target = path.hasPrefix("/") ? path : "/console/api/\(path)"
        let request = Request(
            method: method, target: RequestTarget(target),
            fields: Fields(all.filter { !$0.value.isEmpty }.map { ($0.key, $0.value) }),
            framing: body.map { .length(Int64($0.utf8.count)) } ?? .none, peer: peer, scheme: scheme
        )
        let content = TextBody(body ?? "")
        switch (components.consoleService ?? components.service).answer(to: request).outcome {
        case .response(let response): return ConsoleReply(response)
        case .work(_, let work): return ConsoleReply(await work(content))
        case .upgrade(let upgrade): return ConsoleReply(Response(upgrade))
        }
    }

    /// Creates an operator with a password, without the time that its hash takes in most tests.
    func makeOperator(
        _ name: String = "admin", role: Token.Scope = .admin,
        password: String = "correct horse battery"
    ) async throws {
        let hash = try PasswordHash(
            of: password, salt: store.randomBytes(PasswordHash.saltSize))
        try await store.setPassword(hash.bytes, of: name, role: role, from: .command)
    }

    /// Begins a session of an operator by a link, and returns its cookie.
    func logIn(_ name: String = "admin", role: Token.Scope = .admin) async throws -> String {
        let link = try await store.createLink(for: name, lifetime: 60_000, from: .command)
        let reply = await send(.post, "session", #"{"once":"\#(link)"}"#)
        if role != .admin {
            // Links create operators with the role `admin`; a password sets another role.
            try await makeOperator(name, role: role)
            let again = try await store.createLink(for: name, lifetime: 60_000, from: .command)
            return await send(.post, "session", #"{"once":"\#(again)"}"#).cookie
        }
        return reply.cookie
    }

    /// The types of the events of the server's own log, oldest first.
    func events() async throws -> [AuditEventType] {
        try await store.auditEvents(AuditQuery()).events.map(\.type)
    }
}

/// The complete answer to a request of a test.
struct ConsoleReply {
    let response: Response

    init(_ response: Response) { self.response = response }

    var status: Int { response.status.code }

    var text: String { String(decoding: response.bytes, as: UTF8.self) }

    var json: JSONValue? { try? JSONDocument(response.bytes).root }

    subscript(name: String) -> JSONValue? { json?[name] }

    /// The `id` of an error.
    var error: String? { self["id"]?.string }

    var setCookie: String { response.fields["Set-Cookie"] ?? "" }

    /// `name=value` of the cookie that it sets.
    var cookie: String { String(setCookie.prefix { character in character != ";" }) }
}

/// A body that is in memory.
private actor TextBody: RequestBody {
    nonisolated let length: Int64?
    private var rest: [UInt8]

    init(_ text: String) {
        rest = Array(text.utf8)
        length = Int64(rest.count)
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        buffer.removeAll()
        rest.removeFirst(buffer.append(rest.span))
    }

    nonisolated func interrupt() {}
}
