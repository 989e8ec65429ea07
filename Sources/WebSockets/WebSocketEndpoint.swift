internal import Bytes
public import HTTP
internal import SystemSupport

/// A route for WebSockets: its settings, and whether it still accepts handshakes.
public final class WebSocketEndpoint: Sendable {
    /// The result of checking a request.
    public enum Handshake: Sendable {
        /// A valid handshake, to be accepted after authentication and other checks.
        case valid(WebSocketOffer)
        /// The response to an invalid one.
        case refused(Response)
    }

    let settings: WebSocketSettings
    private let isStopping = Locked(false)

    /// Makes an endpoint.
    public init(_ settings: WebSocketSettings = WebSocketSettings()) { self.settings = settings }

    /// Refuses new handshakes with 503 (H147). Called automatically when one of its sockets learns
    /// that the server stops.
    public func stop() { isStopping.withLock { isStopping in isStopping = true } }

    /// Checks a request. Authentication and limits are left to the caller, before it accepts
    /// (H129).
    ///
    /// - Parameters:
    ///   - ownOrigin: The origin of the server's own pages, which need no permission.
    ///   - render: Makes the response of a refusal, such as `service.refusal`.
    public func handshake(
        _ request: Request, ownOrigin: String? = nil, refusing render: (Refusal) -> Response
    ) -> Handshake {
        do throws(HandshakeFault) {
            guard !isStopping.withLock({ isStopping in isStopping }) else { throw .stopping }
            return .valid(try WebSocketOffer(request, self, ownOrigin: ownOrigin))
        } catch {
            return .refused(error.response(render))
        }
    }
}

/// A valid handshake that was not answered yet (RFC 6455 §4.2.1).
public struct WebSocketOffer: Sendable {
    /// The negotiated subprotocol; `nil` for none (H130).
    public let subprotocol: String?

    private let endpoint: WebSocketEndpoint
    private let key: String
    private let deflation: WebSocketCompression?
    private let extensionLine: String?

    /// Checks a request, in the order in which the first fault is most useful to the client.
    init(
        _ request: Request, _ endpoint: WebSocketEndpoint, ownOrigin: String?
    ) throws(HandshakeFault) {
        let fields = request.fields
        guard request.method == .get || request.method == .head else { throw .method }
        guard request.method == .get, !request.isHTTP10,
            fields.list("Upgrade", names: "websocket"), fields.list("Connection", names: "upgrade")
        else { throw .upgradeRequired }
        guard !request.framing.announcesContent else { throw .body }
        guard !fields.contains("Expect") else { throw .expectation }
        guard fields.joined("Sec-WebSocket-Version") == "13" else { throw .upgradeRequired }
        guard let key = fields.joined("Sec-WebSocket-Key"), Base64.decode(key)?.count == 16 else {
            throw .key
        }
        let settings = endpoint.settings
        if let origin = fields.joined("Origin") {
            guard
                settings.origins.contains("*") || settings.origins.contains(origin)
                    || origin == ownOrigin
            else { throw .origin }
        }
        subprotocol = try Self.subprotocol(fields, settings)
        let agreed = settings.compression.flatMap { policy in
            CompressionOffer.accept(fields, policy)
        }
        deflation = agreed?.policy
        extensionLine = agreed?.line
        self.key = key
        self.endpoint = endpoint
    }

    /// Accepts with `101`.
    ///
    /// - Parameters:
    ///   - handler: Receives the socket's events.
    ///   - slot: Released when the socket closes.
    public func accept(_ handler: any WebSocketHandler, slot: StreamSlot? = nil) -> Upgrade {
        var fields = ResponseFields()
        fields.add("Sec-WebSocket-Accept", Self.accepting(key))
        if let subprotocol { fields.add("Sec-WebSocket-Protocol", subprotocol) }
        if let extensionLine { fields.add("Sec-WebSocket-Extensions", extensionLine) }
        let socket = WebSocket(handler, endpoint, deflation: deflation, slot: slot)
        return Upgrade(to: "websocket", fields: fields, handler: socket)
    }

    /// The value of `Sec-WebSocket-Accept`, which proves that the handshake was understood; SHA-1
    /// protects no secret here (RFC 6455 §4.2.2).
    static func accepting(_ key: String) -> String {
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Base64.encode(SHA1.digest(of: Array(text.utf8)))
    }

    /// The first of our subprotocols that the client offers, case-sensitive.
    private static func subprotocol(
        _ fields: Fields, _ settings: WebSocketSettings
    ) throws(HandshakeFault) -> String? {
        guard let list = fields.joined("Sec-WebSocket-Protocol") else {
            if settings.requiresSubprotocol { throw .subprotocol }
            return nil
        }
        let offered = list.utf8.split(
            separator: UInt8(ascii: ","), omittingEmptySubsequences: false
        )
        .map { element in Array(element)[...].trimmingBlanks }
        guard offered.count <= 256, offered.allSatisfy(\.isToken) else { throw .subprotocolList }
        let agreed = settings.subprotocols.first { own in
            offered.contains { element in element.elementsEqual(own.utf8) }
        }
        if agreed == nil, settings.requiresSubprotocol { throw .subprotocol }
        return agreed
    }
}

extension Fields {
    /// Whether any line of a list field contains a token, ignoring case.
    fileprivate func list(_ name: FieldName, names token: String) -> Bool {
        values(name).contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { element in
                Array(element)[...].trimmingBlanks.isEqualIgnoringCase(token.utf8)
            }
        }
    }
}

/// Why a handshake is refused, with the header fields of the response (H127–H131).
struct HandshakeFault: Error {
    let refusal: Refusal
    var fields: [(name: FieldName, value: String)] = []
    var ending = Response.Ending.keep

    private init(_ status: Status, _ rule: StaticString, _ reason: StaticString) {
        refusal = Refusal(status, rule, reason)
    }

    func response(_ render: (Refusal) -> Response) -> Response {
        var response = render(refusal)
        for field in fields { response.fields.add(field.name, field.value) }
        response.ending = ending
        return response
    }

    /// No handshake, or one of another version (RFC 6455 §4.2.2, RFC 9110 §15.5.22);
    /// ``ResponseHead`` adds `Connection: Upgrade`.
    static let upgradeRequired: HandshakeFault = {
        var fault = HandshakeFault(
            .upgradeRequired, "H128", "This path requires a WebSocket handshake of version 13.")
        fault.fields.append(("Upgrade", "websocket"))
        fault.fields.append(("Sec-WebSocket-Version", "13"))
        return fault
    }()

    static let method: HandshakeFault = {
        var fault = HandshakeFault(.methodNotAllowed, "H128", "A WebSocket handshake must use GET.")
        fault.fields.append(("Allow", "GET, HEAD"))
        return fault
    }()

    static let stopping: HandshakeFault = {
        var fault = HandshakeFault(.serviceUnavailable, "H147", "The server is stopping.")
        fault.fields.append(("Retry-After", "1"))
        fault.ending = .close
        return fault
    }()

    /// The bytes of a body would be read as frames.
    static let body: HandshakeFault = {
        var fault = HandshakeFault(
            .badRequest, "H131", "A WebSocket handshake must not have a body.")
        fault.ending = .close
        return fault
    }()

    /// A client that receives `101` would keep waiting for `100` (RFC 9110 §7.8).
    static let expectation: HandshakeFault = {
        var fault = HandshakeFault(
            .expectationFailed, "H77", "A WebSocket handshake must not have an Expect field.")
        fault.ending = .close
        return fault
    }()

    static let key = HandshakeFault(
        .badRequest, "H128", "Sec-WebSocket-Key is not base64 of 16 bytes.")
    static let origin = HandshakeFault(
        .forbidden, "H129", "Pages of that origin may not open a WebSocket here.")
    static let subprotocol = HandshakeFault(
        .badRequest, "H130", "None of the offered subprotocols is supported.")
    static let subprotocolList = HandshakeFault(
        .badRequest, "H130", "Sec-WebSocket-Protocol is malformed.")
}
