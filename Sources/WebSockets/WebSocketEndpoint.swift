internal import Bytes
public import HTTP
internal import SystemSupport

/// A route on which WebSockets are opened: its settings, and whether it still takes any.
public final class WebSocketEndpoint: Sendable {
    /// What comes of a request on the route.
    public enum Handshake: Sendable {
        /// It asks rightly; whoever has checked the rest may accept it.
        case valid(WebSocketOffer)
        /// The answer to one that does not.
        case refused(Response)
    }

    let settings: WebSocketSettings
    private let isStopping = Locked(false)

    /// Makes a route's end.
    public init(_ settings: WebSocketSettings = WebSocketSettings()) { self.settings = settings }

    /// New handshakes are refused with 503 (H147); done by itself once one of its sockets is told
    /// that the server stops.
    public func stop() { isStopping.withLock { isStopping in isStopping = true } }

    /// Checks a request; authentication and limits are up to the caller, before it accepts (H129).
    ///
    /// - Parameter render: Writes the content of a refusal, such as `service.refusal`.
    public func handshake(
        _ request: Request, refusing render: (Refusal) -> Response
    ) -> Handshake {
        do throws(HandshakeFault) {
            guard !isStopping.withLock({ isStopping in isStopping }) else { throw .stopping }
            return .valid(try WebSocketOffer(request, self))
        } catch {
            return .refused(error.response(render))
        }
    }
}

/// A handshake that asks rightly (RFC 6455 §4.2.1), not yet answered.
public struct WebSocketOffer: Sendable {
    /// The subprotocol that will be spoken; `nil` for none (H130).
    public let subprotocol: String?

    private let endpoint: WebSocketEndpoint
    private let key: String
    private let deflation: WebSocketCompression?
    private let extensionLine: String?

    /// Reads a request, in the order in which a client learns most from the first fault.
    init(_ request: Request, _ endpoint: WebSocketEndpoint) throws(HandshakeFault) {
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
            guard settings.origins.contains("*") || settings.origins.contains(origin) else {
                throw .origin
            }
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

    /// Answers with `101`.
    ///
    /// - Parameters:
    ///   - handler: Hears of everything that follows.
    ///   - slot: The socket's place in a count of streams, given back at its end.
    public func accept(_ handler: any WebSocketHandler, slot: StreamSlot? = nil) -> Upgrade {
        var fields = ResponseFields()
        fields.add("Sec-WebSocket-Accept", Self.accepting(key))
        if let subprotocol { fields.add("Sec-WebSocket-Protocol", subprotocol) }
        if let extensionLine { fields.add("Sec-WebSocket-Extensions", extensionLine) }
        let socket = WebSocket(handler, endpoint, deflation: deflation, slot: slot)
        return Upgrade(to: "websocket", fields: fields, handler: socket)
    }

    /// Proves that the handshake was understood; SHA-1 is no secret here (RFC 6455 §4.2.2).
    static func accepting(_ key: String) -> String {
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Base64.encode(SHA1.digest(of: Array(text.utf8)))
    }

    /// The first of ours that the client offers, compared with case; one only.
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
        let spoken = settings.subprotocols.first { own in
            offered.contains { element in element.elementsEqual(own.utf8) }
        }
        if spoken == nil, settings.requiresSubprotocol { throw .subprotocol }
        return spoken
    }
}

extension Fields {
    /// Whether a list of tokens, over all lines of the field, has one of that name in any case.
    fileprivate func list(_ name: FieldName, names token: String) -> Bool {
        values(name).contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { element in
                Array(element)[...].trimmingBlanks.isEqualIgnoringCase(token.utf8)
            }
        }
    }
}

/// Why a handshake is refused, and what the client is told beside it (H127–H131).
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

    /// Not a handshake at all, or one of another version (RFC 6455 §4.2.2, RFC 9110 §15.5.22); the
    /// serialiser adds `Connection: Upgrade`.
    static let upgradeRequired: HandshakeFault = {
        var fault = HandshakeFault(
            .upgradeRequired, "H128", "This path speaks WebSocket, version 13.")
        fault.fields.append(("Upgrade", "websocket"))
        fault.fields.append(("Sec-WebSocket-Version", "13"))
        return fault
    }()

    static let method: HandshakeFault = {
        var fault = HandshakeFault(.methodNotAllowed, "H128", "A WebSocket is opened with GET.")
        fault.fields.append(("Allow", "GET, HEAD"))
        return fault
    }()

    static let stopping: HandshakeFault = {
        var fault = HandshakeFault(.serviceUnavailable, "H147", "The server is stopping.")
        fault.fields.append(("Retry-After", "1"))
        fault.ending = .close
        return fault
    }()

    /// Bytes of a body would be taken for frames.
    static let body: HandshakeFault = {
        var fault = HandshakeFault(.badRequest, "H131", "A handshake has no body.")
        fault.ending = .close
        return fault
    }()

    /// `101` alone would leave the client waiting for `100` (RFC 9110 §7.8).
    static let expectation: HandshakeFault = {
        var fault = HandshakeFault(.expectationFailed, "H77", "A handshake expects nothing.")
        fault.ending = .close
        return fault
    }()

    static let key = HandshakeFault(
        .badRequest, "H128", "Sec-WebSocket-Key is not base64 of 16 bytes.")
    static let origin = HandshakeFault(
        .forbidden, "H129", "Pages of that origin may not open a WebSocket here.")
    static let subprotocol = HandshakeFault(
        .badRequest, "H130", "None of the subprotocols offered is spoken here.")
    static let subprotocolList = HandshakeFault(
        .badRequest, "H130", "Sec-WebSocket-Protocol is malformed.")
}
