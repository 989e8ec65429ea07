import Testing

@testable import HTTP
@testable import WebSockets

@Suite struct `Handshake of a WebSocket` {
    private static let right = [
        ("Host", "h"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
        ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    @Test func `is answered with the accept key of RFC 6455 and nothing else (H127, H130)`() throws
    {
        let upgrade = try accepted(Self.right)
        #expect(upgrade.token == "websocket")
        #expect(upgrade.fields["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(upgrade.fields.all.count == 1)
    }

    @Test(arguments: [
        ("Upgrade", "h2c, WebSocket"), ("Connection", "keep-alive, uPGRADE"),
        ("Connection", "upgrade,"), ("Origin", "https://chat.example.com"),
        ("Content-Length", "0"),
    ])
    func `accepts lists and any case of the tokens (H127, H129)`(name: String, value: String) throws
    {
        _ = try accepted(changed(name, value))
    }

    @Test(
        arguments: [
            ("Upgrade", nil, 426), ("Upgrade", "websockets", 426), ("Upgrade", "h2c", 426),
            ("Connection", nil, 426), ("Connection", "keep-alive", 426),
            ("Sec-WebSocket-Version", nil, 426), ("Sec-WebSocket-Version", "8", 426),
            ("Sec-WebSocket-Version", "13, 8", 426), ("Sec-WebSocket-Version", "013", 426),
            ("Sec-WebSocket-Key", nil, 400), ("Sec-WebSocket-Key", "", 400),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ", 400),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZR==", 400),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZTE=", 400),
            ("Origin", "https://evil.example.com", 403),
            ("Origin", "https://chat.example.com.evil", 403),
            ("Origin", "https://chat.example.com:443", 403), ("Origin", "null", 403),
            ("Origin", "http://chat.example.com", 403), ("Origin", "", 403),
            ("Expect", "100-continue", 417), ("Sec-WebSocket-Protocol", "a b", 400),
            ("Sec-WebSocket-Protocol", "a,,b", 400), ("Sec-WebSocket-Protocol", "", 400),
        ] as [(String, String?, Int)])
    func `is refused when it is invalid (H77, H127–H130)`(name: String, value: String?, status: Int)
    {
        #expect(refused(changed(name, value))?.status.code == status)
    }

    @Test func `of another version gets the supported version (H128)`() {
        for fields in [changed("Sec-WebSocket-Version", "8"), [("Host", "h")]] {
            let response = refused(fields)
            #expect(response?.fields["Upgrade"] == "websocket")
            #expect(response?.fields["Sec-WebSocket-Version"] == "13")
        }
    }

    @Test(arguments: Method.allCases)
    func `must be a GET (H128)`(method: Method) {
        let status: Int? =
            switch method {
            case .get: nil
            // The response that GET without an upgrade would get (H68).
            case .head: 426
            default: 405
            }
        #expect(refused(Self.right, method: method)?.status.code == status)
    }

    @Test func `must be HTTP 1_1 (H86, H127)`() {
        #expect(refused(Self.right, isHTTP10: true)?.status == .upgradeRequired)
    }

    @Test(arguments: [BodyFraming.length(1), .chunked])
    func `must not have a body, which ends the connection (H131)`(framing: BodyFraming) {
        let response = refused(Self.right, framing: framing)
        #expect(response?.status == .badRequest)
        guard case .close? = response?.ending else {
            Issue.record("the connection stays")
            return
        }
    }

    @Test func `is refused while the server stops (H147)`() {
        let endpoint = WebSocketEndpoint()
        endpoint.stop()
        let response = refused(Self.right, endpoint)
        #expect(response?.status == .serviceUnavailable)
        #expect(response?.fields["Retry-After"] == "1")
    }

    @Test(
        arguments: [
            ("chat", "chat"), ("x, chat", "chat"), ("other, chat", "other"), ("Chat", nil),
            ("x", nil),
            ("chat, other", "other"),
        ] as [(String, String?)])
    func `agrees on one common subprotocol, case-sensitive (H130)`(
        offered: String, spoken: String?
    ) throws {
        var settings = WebSocketSettings()
        settings.subprotocols = ["other", "chat"]
        let fields = changed("Sec-WebSocket-Protocol", offered)
        #expect(
            try accepted(fields, WebSocketEndpoint(settings)).fields["Sec-WebSocket-Protocol"]
                == spoken)
        settings.requiresSubprotocol = true
        #expect((refused(fields, WebSocketEndpoint(settings)) == nil) == (spoken != nil))
        #expect(refused(Self.right, WebSocketEndpoint(settings))?.status == .badRequest)
    }

    @Test func `agrees to compression only when it is enabled (H120, H130)`() throws {
        let fields = changed("Sec-WebSocket-Extensions", "permessage-deflate")
        #expect(try accepted(fields).fields["Sec-WebSocket-Extensions"] == nil)
        var settings = WebSocketSettings()
        settings.compression = WebSocketCompression()
        #expect(
            try accepted(fields, WebSocketEndpoint(settings)).fields["Sec-WebSocket-Extensions"]
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
        #expect(
            try accepted(Self.right, WebSocketEndpoint(settings))
                .fields["Sec-WebSocket-Extensions"] == nil)
    }

    @Test func `is valid after parsing, which handles hop-by-hop fields (H31, H127)`() {
        var parser = RequestParser()
        let lines = Self.right.map { name, value in "\(name): \(value)\r\n" }.joined()
        let message = Array("GET /ws HTTP/1.1\r\n\(lines)\r\n".utf8)
        guard case .head(let head, _) = parser.parse(message.span) else {
            Issue.record("refused")
            return
        }
        let request = Request(method: .get, target: head.target, fields: head.fields)
        guard case .valid = WebSocketEndpoint().handshake(request, refusing: refusal) else {
            Issue.record("refused")
            return
        }
    }

    private func changed(_ name: String, _ value: String?) -> [(String, String)] {
        Self.right.filter { field in field.0 != name } + (value.map { [(name, $0)] } ?? [])
    }

    private func accepted(
        _ fields: [(String, String)], _ endpoint: WebSocketEndpoint? = nil
    ) throws -> Upgrade {
        switch handshake(fields, endpoint) {
        case .valid(let offer): return offer.accept(RecordingSocketHandler())
        case .refused(let response): throw Refused(status: response.status.code)
        }
    }

    private func refused(
        _ fields: [(String, String)], _ endpoint: WebSocketEndpoint? = nil, method: Method = .get,
        isHTTP10: Bool = false, framing: BodyFraming = .none
    ) -> Response? {
        switch handshake(fields, endpoint, method: method, isHTTP10: isHTTP10, framing: framing) {
        case .valid: nil
        case .refused(let response): response
        }
    }

    private func handshake(
        _ fields: [(String, String)], _ endpoint: WebSocketEndpoint?, method: Method = .get,
        isHTTP10: Bool = false, framing: BodyFraming = .none
    ) -> WebSocketEndpoint.Handshake {
        var settings = WebSocketSettings()
        settings.origins = ["https://chat.example.com"]
        let request = Request(
            method: method, target: RequestTarget("/ws"),
            fields: Fields(fields.map { field in (name: field.0, value: field.1) }),
            framing: framing, isHTTP10: isHTTP10)
        return (endpoint ?? WebSocketEndpoint(settings)).handshake(request, refusing: refusal)
    }

    private func refusal(_ refusal: Refusal) -> Response { Response(refusal.status) }

    private struct Refused: Error { let status: Int }
}
