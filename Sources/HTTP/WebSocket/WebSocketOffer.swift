internal import Base64
internal import Digests

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
    ///   - seat: The socket's place in a count of streams, given back at its end.
    public func accept(_ handler: any WebSocketHandler, seat: StreamSeat? = nil) -> Upgrade {
        var fields = ResponseFields()
        fields.add("Sec-WebSocket-Accept", Self.accepting(key))
        if let subprotocol { fields.add("Sec-WebSocket-Protocol", subprotocol) }
        if let extensionLine { fields.add("Sec-WebSocket-Extensions", extensionLine) }
        let socket = WebSocket(handler, endpoint, deflation: deflation, seat: seat)
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

extension Collection<UInt8> {
    /// Whether these are one or more `tchar` (RFC 9110 §5.6.2).
    var isToken: Bool {
        !isEmpty && allSatisfy { octet in OctetClass.token.contains(octet) }
    }
}
